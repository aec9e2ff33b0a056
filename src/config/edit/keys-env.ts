import { proposedVariable } from '../../base/free-variable.ts'
import { invalidRequest } from '../../formats/error.ts'
import { parseKeysEnv } from '../file/key-texts.ts'
import { readConfigText } from '../file/read-text.ts'
import { fingerprint } from '../watch/fingerprint.ts'
import { fileRefusals, recordEdit, type FileRecording } from './change-page-file.ts'
import { writeConfig } from './write-config.ts'

const { asFaults, asRefusal } = fileRefusals('keys.env')

const head = '# Keys of providers for svc, by the names of variables. Changes are used at once.\n'

/** A key that was typed on the page. */
export interface TypedKey {
  /** The name of its line. */
  readonly variable: string
  readonly key: string
  readonly provider: string
  readonly user: string | undefined
}

/** The text of keys.env with one more key, or another one. Its other lines stay. */
export function withKey(text: string | undefined, { variable, key }: Pick<TypedKey, 'variable' | 'key'>): string {
  const line = `${variable}=${/^["']/.test(key) ? `"${key}"` : key}`
  const lines = (text ?? head).replace(/\n$/, '').split('\n')
  const at = lines.findIndex((each) => new RegExp(`^\\s*(?:export\\s+)?${variable}\\s*=`).test(each))
  if (at === -1) lines.push(line)
  else lines[at] = line
  return `${lines.join('\n')}\n`
}

/**
 * Writes a key into keys.env, which only the service's user can read. The audit has the name of its variable: not a
 * fingerprint, by which guesses of a key could be tested.
 *
 * @throws {WireError} 409 for a keys.env with faults, or one that cannot be written; 503 when it cannot be recorded
 */
export async function writeKey(file: string, typed: TypedKey, recording: FileRecording): Promise<void> {
  const present = await readConfigText(file).catch(asFaults)
  const edited = withKey(present, typed)
  try {
    parseKeysEnv(edited, file)
  } catch (error) {
    asFaults(error)
  }
  const { variable, provider, user } = typed
  const mark = await recordEdit({ object: 'keys.env', after: { variable } }, user, recording)
  await writeConfig(file, edited, fingerprint(present)).catch(asRefusal)
  recording.log.info('a key was written on the page', {
    ...{ provider, variable },
    ...(user === undefined ? {} : { user }),
    ...(mark === undefined ? {} : { audit: mark.seq, chain: mark.chain }),
  })
}

/** What the name of a typed key depends on. */
export interface VariableChoice {
  /** Of the provider. */
  readonly id: string
  /** The name that was asked for. */
  readonly asked: string | undefined
  /** Names that are tried first. */
  readonly usual: readonly string[]
  /** Whether the process has the variable, which comes before keys.env. */
  readonly isFixed: (variable: string) => boolean
  /** Whether a key by that name is of another provider, or of this one at another address. */
  readonly isOfOther: (variable: string) => boolean
}

/** The name in keys.env for a key of a provider. @throws {WireError} 400 for a name that would have no effect */
export function variableFor({ id, asked, usual, isFixed, isOfOther }: VariableChoice): string {
  if (asked !== undefined) {
    if (!/^[A-Za-z_]\w*$/.test(asked))
      throw invalidRequest('invalid_value', `'keyVariable' must be the name of a variable.`, 'keyVariable')
    if (isOfOther(asked))
      throw invalidRequest('invalid_value', `Another provider has its key by the name ${asked}.`, 'keyVariable')
    if (!isFixed(asked)) return asked
    const message = `svc was started with ${asked}, which comes before keys.env: change it there, or name another one.`
    throw invalidRequest('invalid_value', message, 'keyVariable')
  }
  const own = proposedVariable(id)
  const free = (variable: string) => !isFixed(variable) && !isOfOther(variable)
  const found = [...usual, own].find(free)
  if (found !== undefined) return found
  for (let number = 2; ; number += 1) if (free(`${own}_${number}`)) return `${own}_${number}`
}
