//! How much memory the machine has to spare.

/// The MiB that could be used without swapping, where the system says so.
pub(crate) fn available_mib() -> Option<u64> {
    available_in(&std::fs::read_to_string("/proc/meminfo").ok()?)
}

fn available_in(meminfo: &str) -> Option<u64> {
    let line = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib / 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kibibytes_become_mebibytes() {
        let text = "MemTotal:       16000000 kB\nMemAvailable:    2048100 kB\n";
        assert_eq!(available_in(text), Some(2000));
        assert_eq!(available_in("MemTotal: 1 kB\n"), None);
    }
}
