import { flagName, type Flag } from '../../src/base/command-line/arguments.ts'
import type { Command, CommandEntry } from '../../src/base/command-line/command.ts'

/** Sources of names. They return what they find soon, and never fail. */
export interface NameSources {
  /** @param typed the flags of the command line that is completed, such as `--config` */
  models(typed: TypedFlags): Promise<readonly string[]>
  /** Ids of providers. */
  providers(typed: TypedFlags): Promise<readonly string[]>
}

/** Flags of a command line, by names such as `--config`. */
export type TypedFlags = ReadonlyMap<string, string>

/** Completions of the last word of a command line: words, or names of files, which the shell knows. */
export type Completions = readonly string[] | 'files'

/** Most completions that are printed. */
const completionsMax = 2_000

/**
 * Completions are inserted into a command line as they are: no character may have a meaning to a shell, or to a
 * terminal. Names of models come from providers.
 */
const harmlessWord = /^[\w-][\w.:/@+,=-]*$/

/**
 * Completes the last of `words`, by the commands' own flags and arguments.
 *
 * @param words the words after `svc`; the last one may be empty
 */
export async function complete(
  entries: readonly CommandEntry[],
  words: readonly string[],
  sources: NameSources,
): Promise<Completions> {
  const found = await candidates(entries, words, sources)
  if (found === 'files') return found
  const beginning = words.at(-1) ?? ''
  return [...new Set(found)]
    .filter((word) => word.startsWith(beginning) && harmlessWord.test(word))
    .slice(0, completionsMax)
}

async function candidates(
  entries: readonly CommandEntry[],
  words: readonly string[],
  sources: NameSources,
): Promise<Completions> {
  const names = entries.map(({ name }) => name)
  const [first = '', ...others] = words
  if (words.length <= 1 && !first.startsWith('-')) return [...names, 'help']
  if (first === 'help') return others.length === 1 ? names : []
  const isNamed = !first.startsWith('-')
  const entry = isNamed ? entries.find(({ name }) => name === first) : entries[0]
  if (entry === undefined) return []
  return ofCommand(await entry.load(), isNamed ? others : words, isNamed ? [] : ['--version'], sources)
}

/** @param extra further flags */
async function ofCommand(
  command: Command,
  words: readonly string[],
  extra: readonly string[],
  sources: NameSources,
): Promise<Completions> {
  const last = words.at(-1) ?? ''
  const { typed, positionals, open } = read(command, words.slice(0, -1))
  if (open !== undefined) return valuesOf(open, last, '', typed, sources)
  if (!typed.has('--') && last.startsWith('-')) {
    const [name, value] = divided(last)
    const flag = value === undefined ? undefined : findFlag(command, name)
    return flag === undefined
      ? [...flagsOf(command, last), ...extra]
      : valuesOf(flag, value ?? '', `${name}=`, typed, sources)
  }
  return positionals > 0 ? [] : argumentsOf(command)
}

/** The words before the last one. `open`: a flag whose value is the last word. */
function read(command: Command, words: readonly string[]) {
  const typed = new Map<string, string>()
  let positionals = 0
  let open: Flag<unknown> | undefined
  let openName = ''
  for (const word of words) {
    if (open !== undefined) {
      typed.set(openName, word)
      open = undefined
    } else if (word === '--') typed.set(word, '')
    else if (typed.has('--') || !word.startsWith('-')) positionals++
    else {
      const [name, value] = divided(word)
      if (value !== undefined) typed.set(name, value)
      else {
        const flag = findFlag(command, name)
        open = flag?.placeholder === undefined ? undefined : flag
        openName = name
      }
    }
  }
  return { typed, positionals, open }
}

function divided(word: string): readonly [string, string?] {
  const at = word.indexOf('=')
  return at === -1 ? [word] : [word.slice(0, at), word.slice(at + 1)]
}

function findFlag({ flags }: Command, written: string): Flag<unknown> | undefined {
  return Object.entries(flags).find(([name, { short }]) => [flagName(name), `-${short}`].includes(written))?.[1]
}

function flagsOf({ flags }: Command, beginning: string): readonly string[] {
  return [
    ...Object.entries(flags).flatMap(([name, { placeholder }]) => {
      const written = flagName(name)
      const isNegation = placeholder === undefined && beginning.startsWith('--no')
      return isNegation ? [written, `--no-${written.slice(2)}`] : [written]
    }),
    '--help',
  ]
}

/** @param before the part of the word before the value */
async function valuesOf(
  { choices, placeholder = '' }: Flag<unknown>,
  value: string,
  before: string,
  typed: TypedFlags,
  sources: NameSources,
): Promise<Completions> {
  if (choices.length > 0) return choices.map((choice) => before + choice)
  if (placeholder === 'FILE') return 'files'
  // Of names separated by commas, the last one is completed.
  const isList = placeholder === 'MODELS' || placeholder === 'IDS'
  const earlier = isList ? value.slice(0, value.lastIndexOf(',') + 1) : ''
  const names = await namesFor(placeholder, typed, sources)
  return names.map((name) => before + earlier + name)
}

async function namesFor(placeholder: string, typed: TypedFlags, sources: NameSources): Promise<readonly string[]> {
  if (placeholder === 'MODEL' || placeholder === 'MODELS') return sources.models(typed)
  return placeholder === 'IDS' ? sources.providers(typed) : []
}

/** The first argument: the words that the usage lists, such as `make|list`, or a file. */
function argumentsOf({ arguments: positionals }: Command): Completions {
  if (positionals === undefined) return []
  const [first = ''] = positionals.usage.replace(/[[\]]/g, '').split(' ')
  if (first === 'FILE') return 'files'
  return positionals.words ?? first.split('|').filter((word) => word === word.toLowerCase())
}
