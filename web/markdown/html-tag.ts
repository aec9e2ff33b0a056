const attribute = /\s+[a-z_:][\w.:-]*(?:\s*=\s*(?:[^\s"'=<>`]+|'[^']*'|"[^"]*"))?/.source

/** The source of a pattern for one tag of HTML in lower case (CommonMark 0.31, section 6.6). */
export const htmlTag = `<(?:/[a-z][a-z0-9-]*\\s*|[a-z][a-z0-9-]*(?:${attribute})*\\s*/?)>`
