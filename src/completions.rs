//! `sortie completions`: what a shell needs to complete our command line.

use clap::CommandFactory;
use clap_complete::{Shell, generate};

use crate::{answer, cli::Cli, exit::Exit};

/// Prints the completion script for `shell`.
pub(crate) fn completions(shell: Shell) -> Exit {
    let mut script = Vec::new();
    generate(shell, &mut Cli::command(), "sortie", &mut script);
    answer::print(&String::from_utf8_lossy(&script))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shell_has_a_script_that_knows_the_doors() {
        for shell in [
            Shell::Bash,
            Shell::Elvish,
            Shell::Fish,
            Shell::PowerShell,
            Shell::Zsh,
        ] {
            let mut script = Vec::new();
            generate(shell, &mut Cli::command(), "sortie", &mut script);
            let script = String::from_utf8(script).unwrap();
            for door in ["run", "task", "agents", "runs", "completions"] {
                assert!(script.contains(door), "{shell}: {door}");
            }
        }
    }
}
