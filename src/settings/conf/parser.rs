//! The grammar of `.conf` files: pairs, maps, lists, variables and includes. Reference section 9.

use super::cursor::{Cursor, is_blank, is_line_end};
use super::error::ConfError;
use super::scalar::{Scalar, scalar, verbatim};
use super::value::{Item, Map, Position, Value};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Bytes of one file.
pub const MAX_FILE: u64 = 16 * 1024 * 1024;
/// Maps and lists inside each other.
pub const MAX_DEPTH: usize = 64;
/// Files that include each other, one inside the other.
pub const MAX_INCLUDE_DEPTH: usize = 16;
/// The sum of [`Value::weight`] over all files, so that variables that double each other stay harmless.
pub const MAX_WEIGHT: usize = 4_000_000;

/// Reads variables that no key defines: the process environment, or what a test wants.
pub type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Parses a file and all that it includes.
pub fn parse_file(path: &Path, environment: Environment<'_>) -> Result<Map, ConfError> {
    Parser::new(environment).file(path, &path.display().to_string())
}

/// Parses a text; `name` stands for it in errors, `folder` is where its includes are looked for.
pub fn parse_text(text: &str, name: &str, folder: &Path, environment: Environment<'_>) -> Result<Map, ConfError> {
    Parser::new(environment).text(text, name, folder)
}

/// What is shared by a file and its includes.
struct Parser<'e> {
    environment: Environment<'e>,
    /// The files being read, outermost first.
    files: Vec<PathBuf>,
    /// The environment variables being read, outermost first.
    variables: Vec<String>,
    weight: usize,
}

/// One text being read.
struct Reading<'p, 'e, 'a> {
    parser: &'p mut Parser<'e>,
    cursor: Cursor<'a>,
    folder: &'a Path,
    /// The maps around this place, outermost first: where variables are looked up.
    maps: Vec<Map>,
    depth: usize,
}

impl<'e> Parser<'e> {
    fn new(environment: Environment<'e>) -> Self {
        Self { environment, files: Vec::new(), variables: Vec::new(), weight: 0 }
    }

    fn file(&mut self, path: &Path, name: &str) -> Result<Map, ConfError> {
        let open = |source| ConfError::Open { path: path.into(), source };
        let whole = |what: &str| ConfError::TooMuch {
            at: Position { file: name.into(), line: 1, column: 1 },
            what: what.into(),
        };
        let identity = path.canonicalize().map_err(open)?;
        if self.files.contains(&identity) {
            return Err(whole("the file includes itself"));
        }
        if self.files.len() >= MAX_INCLUDE_DEPTH {
            return Err(whole("includes are nested too deep"));
        }
        let text = read_bounded(path).map_err(open)?.ok_or_else(|| whole("the file is too big"))?;
        let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
        self.files.push(identity);
        let map = self.text(&text, name, &folder);
        self.files.pop();
        map
    }

    fn text(&mut self, text: &str, name: &str, folder: &Path) -> Result<Map, ConfError> {
        let cursor = Cursor::new(text, Arc::from(name));
        Reading { parser: self, cursor, folder, maps: vec![Map::default()], depth: 0 }.top()
    }

    /// Counts what was read, so that no file can take all memory.
    fn weigh(&mut self, value: &Value, at: &Position) -> Result<(), ConfError> {
        self.weight += value.weight();
        if self.weight > MAX_WEIGHT {
            return Err(ConfError::TooMuch { at: at.clone(), what: "the configuration is too big".into() });
        }
        Ok(())
    }
}

impl Reading<'_, '_, '_> {
    /// A whole file: pairs, with or without braces around some of them.
    fn top(mut self) -> Result<Map, ConfError> {
        loop {
            self.cursor.skip_space_and_comments();
            match self.cursor.peek() {
                None => return Ok(self.maps.pop().unwrap_or_default()),
                // The braces of a JSON object say nothing here: what is inside counts as if they were not there.
                Some('{' | '}') => {
                    self.cursor.next();
                }
                Some(_) => {
                    self.pair()?;
                    self.end_of_pair(None)?;
                }
            }
        }
    }

    /// `key value` or `include path`.
    fn pair(&mut self) -> Result<(), ConfError> {
        let at = self.cursor.position();
        let (key, quoted) = self.key()?;
        if !quoted
            && key.eq_ignore_ascii_case("include")
            && self.cursor.peek().is_some_and(|c| is_blank(c) || is_line_end(c))
        {
            self.cursor.skip_blanks();
            if !matches!(self.cursor.peek(), Some(':' | '=')) {
                return self.include(at);
            }
        }
        self.cursor.skip_blanks();
        match self.cursor.peek() {
            Some(':' | '=') => {
                self.cursor.next();
            }
            None => return Err(self.cursor.error(format!("config is invalid: '{key}' has no value"))),
            Some(_) => {}
        }
        self.cursor.skip_blanks();
        if self.cursor.peek().is_some_and(is_line_end) {
            return Err(self.cursor.error("Expected value but found new line"));
        }
        let value = self.value()?;
        self.current().insert(key, Item { value, at });
        Ok(())
    }

    fn key(&mut self) -> Result<(String, bool), ConfError> {
        match self.cursor.peek() {
            Some('"' | '\'') => Ok((verbatim(&mut self.cursor)?, true)),
            Some(c @ (':' | '=')) => Err(self.cursor.error(format!("Unexpected key separator '{c}'"))),
            _ => {
                let key = self.cursor.take_while(|c| !is_blank(c) && !is_line_end(c) && c != ':' && c != '=');
                Ok((key.to_string(), false))
            }
        }
    }

    /// What must stand between one pair and the next, or before the `}` of a map.
    fn end_of_pair(&mut self, closing: Option<char>) -> Result<(), ConfError> {
        self.cursor.skip_blanks();
        match self.cursor.peek() {
            None => Ok(()),
            Some(',' | ';') => {
                self.cursor.next();
                Ok(())
            }
            Some(c) if is_line_end(c) || Some(c) == closing => Ok(()),
            Some('}') if closing.is_none() => Ok(()),
            Some(_) if self.cursor.skip_comment() => Ok(()),
            Some(_) if closing.is_some() => {
                Err(self.cursor.expected("a map value terminator \",\" or a map terminator \"}\""))
            }
            Some(_) => Err(self.cursor.expected("a top-level value to end with a new line, comment or EOF")),
        }
    }

    fn value(&mut self) -> Result<Value, ConfError> {
        let at = self.cursor.position();
        let value = match self.cursor.peek() {
            Some('{') => return self.nested(Self::map),
            Some('[') => return self.nested(Self::list),
            _ => match scalar(&mut self.cursor)? {
                Scalar::Value(value) => value,
                Scalar::Variable(name) => self.variable(&name, &at)?,
            },
        };
        self.parser.weigh(&value, &at)?;
        Ok(value)
    }

    fn nested(&mut self, read: fn(&mut Self) -> Result<Value, ConfError>) -> Result<Value, ConfError> {
        if self.depth >= MAX_DEPTH {
            return Err(ConfError::TooMuch {
                at: self.cursor.position(),
                what: "maps and lists are nested too deep".into(),
            });
        }
        self.cursor.next();
        self.depth += 1;
        let value = read(self);
        self.depth -= 1;
        value
    }

    fn map(&mut self) -> Result<Value, ConfError> {
        self.maps.push(Map::default());
        loop {
            self.cursor.skip_space_and_comments();
            match self.cursor.peek() {
                None => return Err(self.cursor.error("Unexpected EOF processing map.")),
                Some('}') => break,
                Some(c @ (',' | ';')) => {
                    return Err(self.cursor.error(format!("Unexpected map value terminator '{c}'.")));
                }
                Some(_) => {
                    self.pair()?;
                    self.end_of_pair(Some('}'))?;
                }
            }
        }
        self.cursor.next();
        Ok(Value::Map(self.maps.pop().unwrap_or_default()))
    }

    fn list(&mut self) -> Result<Value, ConfError> {
        let mut items = Vec::new();
        loop {
            self.cursor.skip_space_and_comments();
            let at = self.cursor.position();
            match self.cursor.peek() {
                Some(']') => break,
                Some(',') => return Err(self.cursor.error("Unexpected array value terminator ','.")),
                None => return Err(self.cursor.error("Unexpected EOF processing array.")),
                Some(_) => items.push(Item { value: self.value()?, at }),
            }
            self.cursor.skip_blanks();
            match self.cursor.peek() {
                Some(']') => break,
                Some(',') => {
                    self.cursor.next();
                }
                Some(c) if is_line_end(c) => {}
                Some(_) if self.cursor.skip_comment() => {}
                _ => return Err(self.cursor.expected("an array value terminator \",\" or an array terminator \"]\"")),
            }
        }
        self.cursor.next();
        Ok(Value::Array(items))
    }

    /// The value of `$name`: the innermost map around that has the key, else the environment.
    fn variable(&mut self, name: &str, at: &Position) -> Result<Value, ConfError> {
        if let Some(value) = self.maps.iter_mut().rev().find_map(|map| map.use_as_variable(name)) {
            if self.depth + value.depth() > MAX_DEPTH {
                return Err(ConfError::TooMuch { at: at.clone(), what: "maps and lists are nested too deep".into() });
            }
            return Ok(value);
        }
        let Some(text) = (self.parser.environment)(name) else {
            return Err(ConfError::UnknownVariable { at: at.clone(), name: name.into() });
        };
        if self.parser.variables.len() >= MAX_INCLUDE_DEPTH || self.parser.variables.iter().any(|v| v == name) {
            return Err(ConfError::VariableCycle { at: at.clone(), name: name.into() });
        }
        self.parser.variables.push(name.into());
        let parsed = self.parser.text(&format!("{name}={text}"), &format!("${name}"), self.folder);
        self.parser.variables.pop();
        let mut map = parsed.map_err(|cause| ConfError::BadVariable {
            at: at.clone(),
            name: name.into(),
            cause: cause.into(),
        })?;
        map.use_as_variable(name).ok_or_else(|| ConfError::UnknownVariable { at: at.clone(), name: name.into() })
    }

    fn include(&mut self, at: Position) -> Result<(), ConfError> {
        let path = match self.cursor.peek() {
            Some('"' | '\'') => verbatim(&mut self.cursor)?,
            Some(c) if is_line_end(c) => return Err(self.cursor.error("Expected include value but found new line")),
            None => return Err(self.cursor.error("Expected include value but found the end of the file")),
            Some(_) => {
                let path = self.cursor.take_while(|c| !is_blank(c) && !is_line_end(c) && c != ';' && c != '}');
                path.to_string()
            }
        };
        let file = self.folder.join(&path);
        let included = self.parser.file(&file, &file.display().to_string());
        let map = included.map_err(|cause| ConfError::Include { at, path, cause: cause.into() })?;
        self.current().merge(map);
        Ok(())
    }

    fn current(&mut self) -> &mut Map {
        self.maps.last_mut().expect("the outermost map stays until the end")
    }
}

/// The text of a file; `None` if it has more than [`MAX_FILE`] bytes. Bytes that are not UTF-8 are replaced.
fn read_bounded(path: &Path) -> std::io::Result<Option<String>> {
    use std::io::Read;
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(MAX_FILE + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= MAX_FILE).then(|| String::from_utf8_lossy(&bytes).into_owned()))
}
