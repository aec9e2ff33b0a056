import { table } from '../../base/table.ts'
import { ConfigError, type ConfigFault } from '../config.ts'
import { findHome } from '../home.ts'
import { fileVariable, isPem, readVariable, type Environment } from './environment.ts'
import { readConfigText } from './read-text.ts'

/** Where keys of providers come from, beside the configuration itself. */
export interface ProviderKeys {
  /** Variables by name, those of keys.env, and texts of key files by {@link fileVariable}. It may change. */
  readonly environment: Environment
  /** Whether the process has the variable, which comes before keys.env. */
  isFixed(variable: string): boolean
  /** Has the texts of these files in the environment, if they can be read. @returns whether it had not all of them */
  read(paths: readonly string[]): Promise<boolean>
}

/** 64 KiB, for keys.env and for a key file. */
const textMax = 64 * 1024
/** 1 MiB, for authorities in PEM. */
const pemMax = 1024 * 1024

/** Stands for a text that is no key, such as that of a folder. */
const noKey = '\0'

/**
 * The variables of this process, and beneath them those of keys.env, whose names may be used by `$NAME` and by brands
 * (docs/configuration.md#keys). The object is changed when a file is: it has the same members for all who hold it.
 */
export class KeyTexts {
  readonly environment: Record<string, string | undefined> = table()
  readonly #own: Environment
  readonly #added = new Set<string>()

  constructor(own: Environment) {
    this.#own = own
    Object.assign(this.environment, own)
  }

  /** Takes the variables of keys.env. Those of the process come first. A line without a value keeps the former one. */
  setVariables(variables: ReadonlyMap<string, string>): void {
    const before = new Map(Array.from(this.#added, (name) => [name, this.environment[name]]))
    for (const name of this.#added) this.environment[name] = this.#own[name]
    this.#added.clear()
    for (const [name, value] of variables) {
      if (readVariable(this.#own, name) !== undefined) continue
      this.environment[name] = value.trim() === '' ? (before.get(name) ?? value) : value
      this.#added.add(name)
    }
  }

  isFixed(variable: string): boolean {
    return readVariable(this.#own, variable) !== undefined
  }

  has(path: string): boolean {
    return Object.hasOwn(this.environment, fileVariable(path))
  }

  /** @param text `undefined`: there is no file @returns whether it has another key than before */
  setFile(path: string, text: string | undefined): boolean {
    const name = fileVariable(path)
    const before = this.environment[name]
    const most = text !== undefined && isPem(text) ? pemMax : textMax
    this.environment[name] = text === undefined || text.length <= most ? text?.trim() : noKey
    return before !== this.environment[name]
  }
}

/** The path of keys.env; `undefined` without a home folder. */
export function keysEnvFile(environment: Environment): string | undefined {
  try {
    return findHome(environment).keysEnv
  } catch {
    return undefined
  }
}

const linePattern = /^(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*)$/

const noName = {
  found: 'a line without NAME=',
  allowed: 'NAME=value, a comment that begins with #, or an empty line',
}
const nameTwice = { found: 'a duplicate name', allowed: 'each name once' }

/**
 * Parses keys.env: lines of `NAME=value`, empty lines, and comments that begin with `#`. Quotes around a value are
 * removed; nothing else is replaced in it.
 *
 * @param text `undefined` without a file
 * @throws {ConfigError} for other lines, and names that are there twice. Faults quote no value
 */
export function parseKeysEnv(text: string | undefined, file: string): ReadonlyMap<string, string> {
  const size = text?.length ?? 0
  if (size > textMax)
    throw new ConfigError([{ file, field: '', found: `${size} characters`, allowed: `at most ${textMax}` }])
  const variables = new Map<string, string>()
  const faults = (text ?? '').split(/\r?\n/).flatMap((line, index): readonly ConfigFault[] => {
    const trimmed = line.trim()
    if (trimmed === '' || trimmed.startsWith('#')) return []
    const [, name = '', value = ''] = linePattern.exec(trimmed) ?? []
    const fault = name === '' ? noName : variables.has(name) ? nameTwice : undefined
    variables.set(name, value.replace(/^(["'])(.*)\1$/, '$2'))
    return fault === undefined ? [] : [{ file, field: '', line: index + 1, ...fault }]
  })
  if (faults.length > 0) throw new ConfigError(faults)
  return variables
}

/**
 * Reads keys.env, and key files when they are asked for, once each. For commands: the service follows these files.
 *
 * @throws {ConfigError} for a keys.env with faults
 */
export async function readKeys(own: Environment): Promise<ProviderKeys> {
  const texts = new KeyTexts(own)
  const path = keysEnvFile(own)
  if (path !== undefined) texts.setVariables(parseKeysEnv(await readConfigText(path), path))
  return {
    environment: texts.environment,
    isFixed: (variable) => texts.isFixed(variable),
    async read(paths) {
      const unread = paths.filter((each) => !texts.has(each))
      for (const each of unread) texts.setFile(each, await readKeyText(readConfigText(each)))
      return unread.length > 0
    },
  }
}

/** The text of a key file; one that cannot be read is no key. */
export async function readKeyText(text: Promise<string | undefined>): Promise<string | undefined> {
  try {
    return await text
  } catch {
    return noKey
  }
}
