import { nearestName } from '../config/nearest.ts'
import { jsonString } from '../observe/text.ts'

/**
 * The command line, or an environment variable that stands for a flag, is not what the command takes. The process exits
 * with 2.
 */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** A flag of a command. Made by `booleanFlag`, `textFlag`, `integerFlag`, `choiceFlag` and `repeatedFlag`. */
export interface Flag<Value> {
  /** One sentence without a full stop. */
  readonly summary: string
  /** One letter. */
  readonly short?: string
  /** The environment variable that also sets it. */
  readonly environment?: string
  /** What happens without it, in words, where there is no value to show. */
  readonly otherwise?: string
  /** Stands for the value in the help, such as `PORT`; absent: the flag takes none. */
  readonly placeholder?: string
  /** What a value may be, in words; empty: anything. */
  readonly allowed: string
  /** Every value there is, when they can be listed. */
  readonly choices: readonly string[]
  /** What it is when nothing sets it. */
  readonly fallback: Value
  /** The value meant by the texts given, the last of them last; `undefined`: not an allowed one. At least one text. */
  read(texts: readonly string[]): { readonly value: Value } | undefined
}

/** The flags of a command: name in camelCase → flag. `logLevel` is written `--log-level`. */
export type Flags = Readonly<Record<string, Flag<unknown>>>

/** The values of `Flags`, by the same names. */
export type FlagValues<Of extends Flags> = {
  readonly [Name in keyof Of]: Of[Name] extends Flag<infer Value> ? Value : never
}

/** What every kind of flag may say of itself. */
export interface FlagOptions {
  readonly short?: string
  readonly environment?: string
  /** What happens without it, in words, where there is no value to show. */
  readonly otherwise?: string
}

/** `--json`, `--no-json`, `--json=false`; in the environment `1`, `0`, `true` or `false`. */
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

/** Names separated by commas, each once; the flag may be given several times. */
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

/** Any text but an empty one. */
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
    allowed: 'a text',
    choices: [],
    fallback: options.fallback,
    read: (texts) => readText(texts.at(-1)),
  }
}

/** A whole number from `minimum` to `maximum`, in decimal digits. */
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
    allowed: `a whole number from ${minimum} to ${maximum}`,
    choices: [],
    read(texts) {
      const text = texts.at(-1) ?? ''
      const value = /^-?\d{1,15}$/.test(text) ? Number(text) : NaN
      return value >= minimum && value <= maximum ? { value: value === 0 ? 0 : value } : undefined
    },
  }
}

/** One of the words in `choices`. */
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

/** A text flag that may be given several times. In the environment: separated by commas. */
export function repeatedFlag(summary: string, placeholder: string, options: FlagOptions = {}): Flag<readonly string[]> {
  return {
    ...options,
    summary,
    placeholder,
    allowed: 'a text, as often as needed',
    choices: [],
    fallback: [],
    read: (texts) => (texts.every((text) => text !== '') ? { value: texts } : undefined),
  }
}

function readText(text: string | undefined): { readonly value: string } | undefined {
  return text === undefined || text === '' ? undefined : { value: text }
}

/** How a flag is written: `logLevel` → `--log-level`. */
export function flagName(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}

/** Whether a flag can be given more than once, each value counting. */
export function isRepeated(flag: Flag<unknown>): boolean {
  return Array.isArray(flag.fallback)
}

/** A command line that was understood. */
export interface ParsedArguments<Of extends Flags> {
  readonly flags: FlagValues<Of>
  readonly positionals: readonly string[]
}

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Reads `--name value`, `--name=value`, `-n value`, `-n=value`, `--name` and `--no-name` (booleans), and `--`, after
 * which nothing is a flag. A flag beats its environment variable, which beats its default; given twice, the last one
 * counts. An empty variable counts as unset. A value that begins with `-` is written `--name=-value`, unless it is a
 * number.
 *
 * @throws {UsageError} naming the flag or variable, what was found, what is allowed, and the nearest right word
 */
export function parseArguments<Of extends Flags>(
  flags: Of,
  argv: readonly string[],
  environment: Environment = {},
): ParsedArguments<Of> {
  const known = new Map<string, Flag<unknown>>(Object.entries(flags).map(([name, flag]) => [flagName(name), flag]))
  const { texts, positionals } = collect(known, argv)
  const values = Object.entries(flags).map(
    ([name, flag]) => [name, valueOf(flagName(name), flag, texts.get(flag), environment)] as const,
  )
  // Each value came out of its own flag's `read` or `fallback`; the type system cannot follow that through Object.fromEntries.
  return { flags: Object.fromEntries(values) as FlagValues<Of>, positionals }
}

interface Collected {
  readonly texts: ReadonlyMap<Flag<unknown>, readonly string[]>
  readonly positionals: readonly string[]
}

function collect(known: ReadonlyMap<string, Flag<unknown>>, argv: readonly string[]): Collected {
  const texts = new Map<Flag<unknown>, string[]>()
  const positionals: string[] = []
  for (let index = 0; index < argv.length; index++) {
    const argument = argv[index] ?? ''
    if (argument === '--') {
      positionals.push(...argv.slice(index + 1))
      break
    }
    if (argument === '-' || !argument.startsWith('-')) {
      positionals.push(argument)
      continue
    }
    const equals = argument.indexOf('=')
    const written = equals === -1 ? argument : argument.slice(0, equals)
    const { flag, isNegated } = find(known, written)
    let text = equals === -1 ? undefined : argument.slice(equals + 1)
    if (flag.placeholder === undefined) {
      if (isNegated && text !== undefined) throw new UsageError(`${written} takes no value`)
      text = isNegated ? 'false' : (text ?? 'true')
    } else if (text === undefined) {
      text = argv[++index]
      if (text === undefined || looksLikeFlag(text))
        throw new UsageError(`${written} needs a value: ${written} ${flag.placeholder}`)
    }
    const list = texts.get(flag)
    if (list === undefined) texts.set(flag, [text])
    else list.push(text)
  }
  return { texts, positionals }
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
  environment: Environment,
): unknown {
  if (texts !== undefined) return readValue(name, flag, texts)
  const text = flag.environment === undefined ? undefined : environment[flag.environment]
  if (flag.environment === undefined || text === undefined || text === '') return flag.fallback
  return readValue(flag.environment, flag, isRepeated(flag) ? text.split(',').map((part) => part.trim()) : [text])
}

function readValue(name: string, flag: Flag<unknown>, texts: readonly string[]): unknown {
  const read = flag.read(texts)
  if (read !== undefined) return read.value
  const found = isRepeated(flag) ? texts.join(',') : (texts.at(-1) ?? '')
  const near = nearestName(found, flag.choices)
  throw new UsageError(
    `${name}: found ${show(found)}, allowed: ${flag.allowed}${near === undefined ? '' : `: did you mean ${near}?`}`,
  )
}

const shownLengthMax = 80

/** A word from outside, fit to stand in a message: quoted where it needs to be, shortened, control characters escaped. */
export function show(text: string): string {
  return text.length <= shownLengthMax && /^[\w./:@+-]+$/.test(text) ? text : jsonString(text, shownLengthMax)
}
