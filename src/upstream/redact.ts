/** Longer texts are cut before they are redacted. */
const readCharactersMax = 2048
/** Longer redacted texts are shortened. */
const shownCharactersMax = 200

const secretName =
  /(?:api|access|secret|private|client|auth)?[-_ ]?(?:keys?|tokens?|secrets?|passwords?|passwd|credentials?)/.source
/** A value in quotes, which may be unclosed, or one word. Not a count. */
const assignedSecret = /["']?\s*[:=]\s*(?!\d{1,9}\b)(?:"[^"]*"?|'[^']*'?|`[^`]*`?|[^\s"',;`]+)/.source
const ipv6Rest = /(?::[0-9a-f]{0,4}(?::[0-9a-f]{1,4}){0,6}|(?:[0-9a-f]{1,4}:){3}[0-9a-f]{1,4})/.source

/** Patterns to redact, in this order: the more specific first. */
const secrets: readonly (readonly [RegExp, string])[] = [
  // URLs, with credentials and paths; also without a scheme.
  [/\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s"'<>`]+/gi, '[url]'],
  [/\bwww\.[^\s"'<>`]+/gi, '[url]'],
  [/[\w.+%-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64})+/g, '[email]'],
  // Header values and assignments: "authorization: Bearer …", "x-api-key=…", "api key provided: …", "password":"…".
  [/\b(?:proxy-)?(authorization|(?:set-)?cookie|x-[a-z0-9-]{1,40})\b["']?\s*[:=]\s*[^\r\n,;]+/gi, '$1: [redacted]'],
  [/\b(bearer|basic)\s+[^\s"',;]+/gi, '$1 [redacted]'],
  [new RegExp(`\\b(${secretName}(?: (?:provided|given|used|was|is))?)${assignedSecret}`, 'gi'), '$1: [redacted]'],
  // Keys in their usual forms: a short prefix, then letters and digits; also masked ones ("sk-ab***yz").
  [/\b(?:sk|pk|rk|gsk|xai|hf|gh[a-z]|github_pat|glpat|xox[a-z])[-_][\w*.-]{4,}/g, '[redacted]'],
  [/\b(?:AKIA|ASIA|AIza|ya29\.|eyJ)[\w*.-]{8,}/g, '[redacted]'],
  // Hosts with a port, and IP addresses of both kinds.
  [/\b(?:[a-z0-9-]{1,63}\.){1,8}[a-z][a-z0-9-]{1,62}:\d{2,5}\b/gi, '[address]'],
  [/\b(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?\b/g, '[address]'],
  [new RegExp(`(?<![\\w:])(?:[0-9a-f]{1,4}:){1,7}${ipv6Rest}(?![\\w:])`, 'gi'), '[address]'],
]

/**
 * Redacts an upstream's text for clients: keys, bearer tokens, URLs, e-mail and IP addresses, header values, long hex
 * and base64 runs. Replaces control characters and invisible ones. Returns one line. Prefers to redact too much.
 *
 * @param charactersMax longest result; at most 2,048
 */
export function redact(text: string, charactersMax: number = shownCharactersMax): string {
  // Redacted before it is shortened, so that no half of a secret remains. The bound limits the cost of the patterns.
  const isCut = text.length > readCharactersMax
  let clean = (isCut ? text.slice(0, readCharactersMax) : text)
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]+/gu, ' ')
  for (const [pattern, replacement] of secrets) clean = clean.replace(pattern, replacement)
  clean = clean.replace(/[A-Za-z0-9+/_=*.-]{16,}/g, (run) => (isRandom(run) ? '[redacted]' : run))
  clean = clean.replace(/ {2,}/g, ' ').trim()
  return clean.length > charactersMax ? `${clean.slice(0, charactersMax - 1).toWellFormed()}…` : clean
}

/**
 * Whether a long run of letters, digits and separators looks random, like hexadecimal or base64. Names of models, such
 * as `meta-llama/llama-4-scout-17b`, do not.
 */
function isRandom(run: string): boolean {
  if (run.length >= 24 && /\+|=$/.test(run)) return true
  if (run.includes('**') || /[0-9a-f]{8}-[0-9a-f]{4}-/i.test(run)) return true
  const pieces = run.split(/[^A-Za-z0-9]+/)
  if (pieces.some(isRandomPiece)) return true
  const pairs = pieces.reduce((sum, piece) => sum + Math.max(piece.length - 1, 0), 0)
  const changes = pieces.reduce((sum, piece) => sum + (piece.match(kindChanges)?.length ?? 0), 0)
  // Random text changes between small letters, capitals and digits at three of five characters. Names do at one of
  // three at most, short names at more.
  return pairs >= 12 && changes / pairs >= (pairs >= 24 ? 0.38 : 0.45)
}

/** Changes between small letters, capitals and digits. */
const kindChanges = /(?:[a-z](?=[A-Z\d])|[A-Z](?=[a-z\d])|\d(?=[A-Za-z]))/g

function isRandomPiece(piece: string): boolean {
  if (piece.length < 16) return false
  const hasDigits = /\d/.test(piece)
  const hasLetters = /[A-Za-z]/.test(piece)
  return hasDigits || !hasLetters || piece.length >= 40 || (piece.length >= 24 && /[a-z][A-Z]/.test(piece))
}
