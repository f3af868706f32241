//! What selectors stand for: roles, the parent, and families.

use std::fmt::Write;

use sortie_config::{Problem, nearest};
use sortie_protocol::{EffortWord, Thinking};

use crate::{
    family,
    grant::{Grant, RunModel},
    origin::Origin,
    scripts,
    world::World,
};

/// Roles that mean something without a setting.
const BUILT_IN: [&str; 9] = [
    "default", "smol", "slow", "task", "plan", "vision", "commit", "tiny", "advisor",
];

/// A model as asked for, with nothing left to stand for something else.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Asked<'a> {
    /// `provider/model`, or a name; a level may still be part of it.
    pub name: String,
    /// The level of the role that led here, which wins over one in `name`.
    pub level: Option<EffortWord>,
    /// The caller's level, where its model is inherited.
    pub inherited: Option<Thinking>,
    /// Who wrote it.
    pub origin: Origin<'a>,
}

impl Asked<'_> {
    fn is_script(&self) -> bool {
        scripts::name(&self.name).is_some()
    }
}

/// The step from a role that nothing maps to the run's model.
const RUN_MODEL: &str = "the run's model";

/// Follows selectors to the models they stand for.
#[derive(Debug)]
pub(crate) struct Roles<'a> {
    pub world: &'a World<'a>,
    pub grant: &'a Grant,
    /// What was stood in for, for whoever asks why.
    pub notes: Vec<String>,
    /// The way from the selector at hand to where we are.
    way: Vec<String>,
    /// Who wrote the selector at hand.
    origin: Origin<'a>,
}

impl<'a> Roles<'a> {
    /// For selectors that `origin` wrote.
    pub(crate) fn new(world: &'a World<'a>, grant: &'a Grant, origin: Origin<'a>) -> Self {
        Self {
            world,
            grant,
            notes: Vec::new(),
            way: Vec::new(),
            origin,
        }
    }

    /// What the pieces of one source stand for, in order.
    pub(crate) fn expand(&mut self, pieces: &[String]) -> Result<Vec<Asked<'a>>, Problem> {
        let mut found = Vec::new();
        for piece in pieces {
            self.follow(piece, None, &mut found)?;
        }
        Ok(found)
    }

    /// The model of somebody who names none: the caller's, with its level; at the root the run's.
    pub(crate) fn inherited(&mut self) -> Result<Vec<Asked<'a>>, Problem> {
        let mut found = Vec::new();
        self.parent(None, &mut found)?;
        Ok(found)
    }

    /// What of `asked` is asked in this run. Who runs on a script means to ask nobody else, and neither needs a key nor
    /// waits for one: then only scripts keep their place, and the run's own stands in for everything else.
    pub(crate) fn in_this_run(&mut self, asked: Vec<Asked<'a>>) -> Vec<Asked<'a>> {
        let Some(own) = self.script_of_run() else {
            return asked;
        };
        if asked.iter().all(Asked::is_script) {
            return asked;
        }
        self.notes
            .push("the run's model is a script, so no other is asked".to_owned());
        let mut scripts = asked;
        scripts.retain(Asked::is_script);
        if scripts.is_empty() { own } else { scripts }
    }

    /// What the run's model stands for, where that is stated and is nothing but scripts.
    fn script_of_run(&self) -> Option<Vec<Asked<'a>>> {
        self.grant.run_model.as_ref()?;
        let mut found = Vec::new();
        let mut roles = Self::new(self.world, self.grant, Origin::Flag);
        // Whoever asks for a model that stands for nothing is told so.
        roles.run(None, &mut found).ok()?;
        found.iter().all(Asked::is_script).then_some(found)
    }

    /// What the run's model is said to be, as written.
    pub(crate) fn run_model(&self) -> Option<String> {
        let role = || {
            Some(
                self.world
                    .settings
                    .model_roles
                    .get("default")?
                    .value
                    .join(", "),
            )
        };
        let stated = self.grant.run_model.as_ref();
        stated
            .map(|model| model.selector().to_owned())
            .or_else(role)
    }

    fn follow(
        &mut self,
        piece: &str,
        level: Option<EffortWord>,
        found: &mut Vec<Asked<'a>>,
    ) -> Result<(), Problem> {
        let Some(alias) = piece
            .strip_prefix('@')
            .or_else(|| piece.strip_prefix("pi/"))
        else {
            if piece.eq_ignore_ascii_case("inherit") {
                return self.parent(level, found);
            }
            return self.name(piece, level, found);
        };
        let (role, own) = match alias.split_once(':') {
            Some((role, word)) => (
                role,
                Some(word.parse::<EffortWord>().map_err(|error| {
                    self.origin
                        .blame(Problem::error(format!("`{piece}`: {error}")))
                })?),
            ),
            None => (alias, None),
        };
        let level = level.or(own);
        if role == "parent" {
            return self.parent(level, found);
        }
        self.step(&format!("@{role}"), |roles| roles.role(role, level, found))
    }

    /// One step further along the way, which must not lead in a circle.
    fn step(
        &mut self,
        place: &str,
        go: impl FnOnce(&mut Self) -> Result<(), Problem>,
    ) -> Result<(), Problem> {
        if let Some(start) = self.way.iter().position(|passed| passed == place) {
            let mut circle = String::new();
            for passed in &self.way[start..] {
                let _ = write!(circle, "`{passed}` is ");
            }
            let fault = Problem::error(format!("a role stands for itself: {circle}`{place}`"))
                .help("name a model in `modelRoles` of `config.yml`");
            return Err(self.origin.blame(fault));
        }
        self.way.push(place.to_owned());
        let done = go(self);
        self.way.pop();
        done
    }

    fn role(
        &mut self,
        role: &str,
        level: Option<EffortWord>,
        found: &mut Vec<Asked<'a>>,
    ) -> Result<(), Problem> {
        let roles = &self.world.settings.model_roles;
        if let Some(setting) = roles.get(role) {
            self.notes.push(format!(
                "`@{role}` is `{}` ({})",
                setting.value.join(", "),
                setting.origin
            ));
            let origin = Origin::setting(format!("modelRoles.{role}"), &setting.origin);
            return self.written(&setting.value, origin, level, found);
        }
        if BUILT_IN.contains(&role) {
            self.notes.push(format!(
                "`modelRoles.{role}` is not set, so `@{role}` is the run's model"
            ));
            return self.run(level, found);
        }
        let known = BUILT_IN.into_iter().chain(roles.keys().map(String::as_str));
        let fault = Problem::error(format!("there is no role `@{role}`"));
        let fault = match nearest(role, known) {
            Some(meant) => fault.help(format!("did you mean `@{meant}`?")),
            None => fault.help(format!("map it by `modelRoles.{role}` in `config.yml`")),
        };
        Err(self.origin.blame(fault))
    }

    /// What `origin` wrote.
    fn written(
        &mut self,
        lists: &[String],
        origin: Origin<'a>,
        level: Option<EffortWord>,
        found: &mut Vec<Asked<'a>>,
    ) -> Result<(), Problem> {
        let pieces = pieces(lists);
        if pieces.is_empty() {
            return Err(origin.is_empty());
        }
        let before = std::mem::replace(&mut self.origin, origin);
        let done = pieces
            .iter()
            .try_for_each(|piece| self.follow(piece, level, found));
        self.origin = before;
        done
    }

    /// The run's active model: `--model`, else `modelRoles.default`.
    fn run(
        &mut self,
        level: Option<EffortWord>,
        found: &mut Vec<Asked<'a>>,
    ) -> Result<(), Problem> {
        if self.way.iter().any(|passed| passed == RUN_MODEL) {
            let role = self.way.last().map_or("", String::as_str);
            return Err(Problem::error(format!(
                "the run's model is `{role}`, and nothing says which that is"
            ))
            .help(format!(
                "set `modelRoles.{}` in `config.yml`, or name a model",
                role.trim_start_matches('@')
            )));
        }
        if let Some(model) = self.grant.run_model.clone() {
            let (model, origin) = match model {
                RunModel::Flag(model) => (model, Origin::Flag),
                RunModel::Batch { selector, place } => (selector, Origin::Batch(place)),
            };
            return self.step(RUN_MODEL, |roles| {
                roles.written(&[model], origin, level, found)
            });
        }
        if self.world.settings.model_roles.contains_key("default") {
            return self.step("@default", |roles| roles.role("default", level, found));
        }
        Err(Problem::error("no model is configured").help(
            "name one by `--model PROVIDER/MODEL`, by `model:` in the batch, or by `modelRoles.default` in \
             `~/.sortie/agent/config.yml`; `--model script/NAME` runs `NAME.yaml` without any model",
        ))
    }

    fn parent(
        &mut self,
        level: Option<EffortWord>,
        found: &mut Vec<Asked<'a>>,
    ) -> Result<(), Problem> {
        let Some(active) = &self.grant.active else {
            return self.run(level, found);
        };
        found.push(Asked {
            name: active.selector.clone(),
            level,
            inherited: active.level,
            origin: Origin::Caller,
        });
        Ok(())
    }

    fn name(
        &mut self,
        piece: &str,
        level: Option<EffortWord>,
        found: &mut Vec<Asked<'a>>,
    ) -> Result<(), Problem> {
        let (word, own) = family::split(piece);
        let Some(family) = family::find(word) else {
            found.push(Asked {
                name: piece.to_owned(),
                level,
                inherited: None,
                origin: self.origin.clone(),
            });
            return Ok(());
        };
        let level = level.or(own);
        if let Some(newest) = family.newest(self.world.models) {
            self.notes.push(format!(
                "`{word}` is `{newest}`, the newest of that family that can be used"
            ));
            found.push(Asked {
                name: newest,
                level,
                inherited: None,
                origin: self.origin.clone(),
            });
            return Ok(());
        }
        let role = family.role;
        self.notes.push(format!(
            "no model of the family `{word}` can be used, so it is `@{role}`"
        ));
        self.step(&format!("@{role}"), |roles| roles.role(role, level, found))
    }
}

/// The selectors of some lists with commas in them.
pub(crate) fn pieces(lists: &[String]) -> Vec<String> {
    lists
        .iter()
        .flat_map(|list| list.split(','))
        .map(str::trim)
        .filter(|piece| !piece.is_empty())
        .map(str::to_owned)
        .collect()
}
