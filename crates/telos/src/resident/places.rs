//! Where a path of names leads: `Garden.gate`, from the Lobby. The one way by which people name places of the image to it.

use super::Resident;
use dream::path::names_in;
use object::change::{Datum, ObjectId, Text};

/// A slot, which need not be there.
pub struct Place {
    pub object: ObjectId,
    pub slot: Text,
    pub value: Option<Datum>,
    /// It is named by one name, so its value may be meant.
    pub is_plain: bool,
}

impl Resident {
    pub(super) fn place_at(&self, path: &str) -> Result<Place, String> {
        let (store, roots) = (self.image.store(), self.desk.roots());
        let lobby = roots.lobby.ok_or("the image has no Lobby")?;
        let mut names = names_in(path)?;
        if names.len() > 1 && names[0] == "Lobby" {
            names.remove(0);
        }
        let Some((last, before)) = names.split_last() else { return Err("there is no name in it".into()) };
        let found_in = |object: ObjectId, name: &str| -> Result<Option<(Text, Datum)>, String> {
            let slots = store.read(object).map_err(|error| error.to_string())?.unwrap_or_default().slots;
            Ok(slots.into_iter().find(|(slot, _)| image::readable_text(slot.as_bytes()) == name))
        };
        // What the Lobby has not, Core may have.
        let core_of = |object: ObjectId| roots.core.filter(|_| object == lobby);
        let mut object = lobby;
        for name in before {
            let found = match (found_in(object, name)?, core_of(object)) {
                (None, Some(core)) => found_in(core, name)?,
                (found, _) => found,
            };
            match found {
                Some((_, Datum::Object(next))) => object = next,
                Some(_) => return Err(format!("{name}, in {path}, is no object that has slots")),
                None => return Err(format!("there is no {name}, in {path}")),
            }
        }
        let is_plain = before.is_empty();
        let place = |object: ObjectId, slot: Text, value: Option<Datum>| Place { object, slot, value, is_plain };
        let in_core = core_of(object).map(|core| Ok::<_, String>((core, found_in(core, last)?))).transpose()?;
        Ok(match (found_in(object, last)?, in_core) {
            (Some((slot, value)), _) => place(object, slot, Some(value)),
            (None, Some((core, Some((slot, value))))) => place(core, slot, Some(value)),
            (None, _) => place(object, Text::from(last.as_str()), None),
        })
    }

    /// The object that a path leads to, and the slot that it is in; none of the Lobby itself.
    pub(super) fn object_at(&self, path: &str) -> Result<(ObjectId, Option<(ObjectId, Text)>), String> {
        if let (Some(lobby), [name]) = (self.desk.roots().lobby, &names_in(path)?[..])
            && name == "Lobby"
        {
            return Ok((lobby, None));
        }
        let Place { object, slot, value, .. } = self.place_at(path)?;
        match value {
            Some(Datum::Object(found)) => Ok((found, Some((object, slot)))),
            Some(_) => Err(format!("{path} is no object; name the one that has it")),
            None => Err(format!("there is no {path}")),
        }
    }
}
