import { nearestName } from '../nearest.ts'
import { jsonString } from '../shown-text.ts'
import { UsageError } from '../start-errors.ts'

/** A flag of a command, made by one of the functions below. */
export interface Flag<Value> {
  /** One sentence without a full stop. */
  readonly summary: string
  /** One-letter name. */
  readonly short?: string
  /** The environment variable that also sets the flag. */
  readonly environment?: string
  /** Description of the default, when it is not a value. */
  readonly otherwise?: string
  /** Name of the value in the help, such as `PORT`; absent for a flag without value. */
  readonly placeholder?: string
  /** Description of the allowed values. */
  readonly allowed: string
  /** All values, when they can be listed. */
  readonly choices: readonly string[]
  /** The default. */
  readonly fallback: Value
  /** Parses one or more texts, in the order given; `undefined` when they are not allowed. */
  read(texts: readonly string[]): { readonly value: Value } | undefined
}

/** The flags of a command by name in camelCase: `logLevel` is `--log-level`. */
export type Flags = Readonly<Record<string, Flag<unknown>>>

/** The values of `Flags`, by the same names. */
export type FlagValues<Of extends Flags> = {
  readonly [Name in keyof Of]: Of[Name] extends Flag<infer Value> ? Value : never
}

/** Options of every kind of flag. */
export type FlagOptions = Pick<Flag<unknown>, 'short' | 'environment' | 'otherwise'>

/** Makes a flag such as `--json`, `--no-json`, `--json=false`; in the environment `1`, `0`, `true` or `false`. */
export function booleanFlag(summary: string, options: FlagOptions = {}): Flag<boolean> {
  return {
    ...options,
    summary,
    allowed: 'true or false',
    choices: ['true', 'false'],
    fallback: false,
    read(texts) {
      const text = texts.at(-1)
      if (text === 'true' || text === '1') return { value: true }
      if (text === 'false' || text === '0') return { value: false }
      return undefined
    },
  }
}

/** Makes a flag for names separated by commas, each once. The flag may be repeated. */
export function namesFlag(summary: string, placeholder: string, options: FlagOptions = {}): Flag<readonly string[]> {
  return {
    ...options,
    summary,
    placeholder,
    allowed: 'names separated by commas, each once',
    choices: [],
    fallback: [],
    read(texts) {
      const names = texts.flatMap((text) => text.split(',').map((name) => name.trim()))
      return names.includes('') || new Set(names).size < names.length ? undefined : { value: names }
    },
  }
}

/** Makes a flag for any text that is not empty. */
export function textFlag(
  summary: string,
  placeholder: string,
  options: FlagOptions & { readonly fallback: string },
): Flag<string>
export function textFlag(summary: string, placeholder: string, options?: FlagOptions): Flag<string | undefined>
export function textFlag(
  summary: string,
  placeholder: string,
  options: FlagOptions & { readonly fallback?: string } = {},
): Flag<string | undefined> {
  return {
    ...options,
    summary,
    placeholder,
    allowed: 'a text that is not empty',
    choices: [],
    fallback: options.fallback,
    read: (texts) => readText(texts.at(-1)),
  }
}

/** Makes a flag for an integer from `minimum` to `maximum`, in decimal digits. */
export function integerFlag(
  summary: string,
  placeholder: string,
  options: FlagOptions & { readonly minimum: number; readonly maximum: number; readonly fallback: number },
): Flag<number> {
  const { minimum, maximum, ...rest } = options
  return {
    ...rest,
    summary,
    placeholder,
    allowed: `an integer from ${minimum} to ${maximum}`,
    choices: [],
    read(texts) {
      const text = texts.at(-1) ?? ''
      const value = /^-?\d{1,15}$/.test(text) ? Number(text) : NaN
      return value >= minimum && value <= maximum ? { value: value === 0 ? 0 : value } : undefined
    },
  }
}

/** Makes a flag for one of the words in `choices`. */
export function choiceFlag<Choice extends string>(
  summary: string,
  choices: readonly Choice[],
  options: FlagOptions & { readonly fallback: Choice; readonly placeholder?: string },
): Flag<Choice> {
  return {
    placeholder: 'WORD',
    ...options,
    summary,
    allowed: choices.join(', '),
    choices,
    read(texts) {
      const value = choices.find((choice) => choice === texts.at(-1))
      return value === undefined ? undefined : { value }
    },
  }
}

/** Makes a text flag that may be repeated. In the environment the texts are separated by commas. */
export function repeatedFlag(summary: string, placeholder: string, options: FlagOptions = {}): Flag<readonly string[]> {
  return {
    ...options,
    summary,
    placeholder,
    allowed: 'texts that are not empty',
    choices: [],
    fallback: [],
    read: (texts) => (texts.every((text) => text !== '') ? { value: texts } : undefined),
  }
}

function readText(text: string | undefined): { readonly value: string } | undefined {
  return text === undefined || text === '' ? undefined : { value: text }
}

/** The name of a flag on the command line: `logLevel` → `--log-level`. */
export function flagName(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}

/** Whether a flag can be repeated, with all its values. */
export function isRepeatable(flag: Flag<unknown>): boolean {
  return Array.isArray(flag.fallback)
}

/** A parsed command line. */
export interface ParsedArguments<Of extends Flags> {
  readonly flags: FlagValues<Of>
  readonly positionals: readonly string[]
}

/**
 * Parses `--name value`, `--name=value`, `-n value`, `-n=value`, `--name` and `--no-name` (booleans). All arguments
 * after `--` are positionals. A flag overrides its environment variable, which overrides its default. The last of
 * repeated flags counts. An empty variable counts as unset. A value that begins with `-` must be written
 * `--name=-value`, unless it is a number.
 *
 * @throws {UsageError} with flag or variable, found and allowed values, and the nearest word
 */
export function parseArguments<Of extends Flags>(
  flags: Of,
  argv: readonly string[],
  environment: Readonly<Record<string, string | undefined>> = {},
): ParsedArguments<Of> {
  const known = new Map<string, Flag<unknown>>(Object.entries(flags).map(([name, flag]) => [flagName(name), flag]))
  const { texts, positionals } = collect(known, argv)
  const values = Object.entries(flags).map(
    ([name, flag]) => [name, valueOf(flagName(name), flag, texts.get(flag), environment)] as const,
  )
  // Each value comes from its flag's `read` or `fallback`. Object.fromEntries loses these types.
  // oxlint-disable-next-line typescript/consistent-type-assertions
  return { flags: Object.fromEntries(values) as FlagValues<Of>, positionals }
}

interface Collected {
  readonly texts: ReadonlyMap<Flag<unknown>, readonly string[]>
  readonly positionals: readonly string[]
}

function collect(known: ReadonlyMap<string, Flag<unknown>>, argv: readonly string[]): Collected {
  const texts = new Map<Flag<unknown>, string[]>()
  const positionals: string[] = []
  const rest = argv.values()
  for (const argument of rest) {
    if (argument === '--') positionals.push(...rest)
    else if (argument === '-' || !argument.startsWith('-')) positionals.push(argument)
    else {
      const { flag, text } = readFlag(known, argument, rest)
      const earlier = texts.get(flag)
      if (earlier === undefined) texts.set(flag, [text])
      else earlier.push(text)
    }
  }
  return { texts, positionals }
}

/** Reads a flag with its text. @param rest the arguments after it; the first is taken for a flag that needs it */
function readFlag(
  known: ReadonlyMap<string, Flag<unknown>>,
  argument: string,
  rest: Iterator<string>,
): { readonly flag: Flag<unknown>; readonly text: string } {
  const equals = argument.indexOf('=')
  const written = equals === -1 ? argument : argument.slice(0, equals)
  const attached = equals === -1 ? undefined : argument.slice(equals + 1)
  const { flag, isNegated } = find(known, written)
  if (isNegated) {
    if (attached !== undefined) throw new UsageError(`${written} takes no value`)
    return { flag, text: 'false' }
  }
  if (attached !== undefined) return { flag, text: attached }
  if (flag.placeholder === undefined) return { flag, text: 'true' }
  const next = rest.next()
  if (next.done === true || looksLikeFlag(next.value))
    throw new UsageError(`${written} needs a value: ${written} ${flag.placeholder}`)
  return { flag, text: next.value }
}

function looksLikeFlag(text: string): boolean {
  return text.length > 1 && text.startsWith('-') && !/^-[\d.]/.test(text)
}

function find(
  known: ReadonlyMap<string, Flag<unknown>>,
  written: string,
): { readonly flag: Flag<unknown>; readonly isNegated: boolean } {
  const flag = known.get(written)
  if (flag !== undefined) return { flag, isNegated: false }
  for (const candidate of known.values()) {
    if (candidate.short !== undefined && written === `-${candidate.short}`) return { flag: candidate, isNegated: false }
  }
  const negated = written.startsWith('--no-') ? known.get(`--${written.slice(5)}`) : undefined
  if (negated !== undefined && negated.placeholder === undefined) return { flag: negated, isNegated: true }
  const near = nearestName(
    written.replace(/^-+/, ''),
    [...known.keys(), '--help'].map((name) => name.slice(2)),
  )
  throw new UsageError(`unknown flag ${show(written)}${near === undefined ? '' : `: did you mean --${near}?`}`)
}

function valueOf(
  name: string,
  flag: Flag<unknown>,
  texts: readonly string[] | undefined,
  environment: Readonly<Record<string, string | undefined>>,
): unknown {
  if (texts !== undefined) return readValue(name, flag, texts)
  const text = flag.environment === undefined ? undefined : environment[flag.environment]
  if (flag.environment === undefined || text === undefined || text === '') return flag.fallback
  return readValue(flag.environment, flag, isRepeatable(flag) ? text.split(',').map((part) => part.trim()) : [text])
}

function readValue(name: string, flag: Flag<unknown>, texts: readonly string[]): unknown {
  const read = flag.read(texts)
  if (read !== undefined) return read.value
  const found = isRepeatable(flag) ? texts.join(',') : (texts.at(-1) ?? '')
  const near = nearestName(found, flag.choices)
  throw new UsageError(
    `${name}: found ${show(found)}, allowed: ${flag.allowed}${near === undefined ? '' : `: did you mean ${near}?`}`,
  )
}

const shownLengthMax = 80

/** Formats foreign text for a message: quoted if necessary, shortened, with control characters escaped. */
export function show(text: string): string {
  return text.length <= shownLengthMax && /^[\w./:@+-]+$/.test(text) ? text : jsonString(text, shownLengthMax)
}

/** `--config FILE` of all commands that read providers. */
export const configFlag = textFlag('provider file to use', 'FILE', {
  environment: 'SVC_CONFIG',
  otherwise: '~/.svc/providers.json, or the providers detected on this machine',
})

/** `--url URL` of commands for a running service. */
export const runningUrlFlag = textFlag('running service, such as https://svc.example.org', 'URL', {
  environment: 'SVC_URL',
  fallback: 'http://127.0.0.1:8000',
})
