import { rm } from 'node:fs/promises'
import { basename } from 'node:path'
import { ConfigError, formatFault } from '../../config/config.ts'
import { changePageFile, faultsInWords, fileRefusals, type FileRecording } from '../../config/edit/change-page-file.ts'
import { concurrencyLimit } from '../../config/edit/concurrency-limit.ts'
import { valueAt } from '../../config/edit/edit-config.ts'
import { withMembers, withSignIn } from '../../config/edit/sign-in-files.ts'
import { writeConfig } from '../../config/edit/write-config.ts'
import type { Environment } from '../../config/file/environment.ts'
import { parseExtensionFile } from '../../config/file/extension-file.ts'
import { parseConfig } from '../../config/file/parse-config.ts'
import { readConfigText } from '../../config/file/read-text.ts'
import { accessFile, extensionFile } from '../../config/home.ts'
import { fingerprint } from '../../config/watch/fingerprint.ts'
import { load, names } from '../../extensions/extension-list.ts'
import type { Contribution, Extension, Host, SetUp } from '../../extensions/extension.ts'
import { invalidRequest, WireError } from '../../formats/error.ts'
import type { SignInAnswer, SignInChange, SignInDraftAnswer } from '../../http/page/page-api.ts'
import { memoryStores } from '../../stores/memory.ts'
import { haveKeys } from '../check-access.ts'
import { startWith } from '../extensions/run-extension.ts'
import type { RunningExtensions } from '../extensions/run-extensions.ts'
import type { ServeOptions } from '../serve-context.ts'

const waitingMax = 10
/** In place of the secret, in what is shown. */
const hidden = '…'
/** In place of the secret, in a draft. */
const notTyped = 'not-typed-yet'

export interface SignInAdminOptions extends FileRecording {
  /** Path of providers.json. */
  readonly file: string
  readonly environment: Environment
  /** Variables with keys.env, for providers.json. */
  readonly keys: { readonly environment: Environment }
  /** Text of a first providers.json. */
  readonly firstText: () => string
  /** The names of `--auth` or `SVC_AUTH`. */
  readonly given: Pick<ServeOptions, 'auth'>
  readonly extensions: Pick<RunningExtensions, 'all' | 'contributions' | 'people'>
  readonly fetch: Host['fetch']
  /** Reloads providers.json. @returns whether no process uses another one */
  readonly reload: () => Promise<boolean>
}

/** Owners have people sign in, while no one does yet. */
export interface SignInAdmin {
  /** @throws {WireError} 409 if it cannot be set up here */
  state(): Promise<SignInAnswer>
  /** How the files would look. Nothing is written, and nothing is asked of the identity provider. */
  draft(wanted: SignInChange): Promise<SignInDraftAnswer>
  /**
   * Asks the identity provider, writes both files, and switches sign-in on. If anything fails, the files are as before.
   *
   * @throws {WireError} 400 for faults, 409, 503
   */
  change(wanted: SignInChange, by: string | undefined): Promise<void>
}

/** A file with its text before and after. */
interface Edited {
  readonly file: string
  readonly before: string | undefined
  readonly after: string
  /** Names of its members that may change. */
  readonly members: readonly string[]
}

/** Sign-in set up on the page (docs/decisions/0007-sign-in.md). */
export function signInAdmin(options: SignInAdminOptions): SignInAdmin {
  const oneChange = concurrencyLimit({ concurrentMax: 1, waitingMax })
  return {
    async state() {
      const { extension, setUp } = await suited(options)
      return {
        file: extensionFile(options.environment, extension.name),
        providers: setUp.providers,
        callbackPath: setUp.callbackPath,
        mayAddKeys: mayAddKeys(options),
        ...(isNone(options) ? { isOffByFlag: true } : {}),
      }
    },
    async draft(wanted) {
      const found = await suited(options)
      const files = await edited(wanted, found, options)
      const faults = await made(files, found, options).then(
        () => [],
        (error: unknown) => {
          if (error instanceof ConfigError) return error.faults.map(formatFault)
          throw error
        },
      )
      return {
        version: versionOf(files),
        files: files.map((each) => ({
          file: each.file,
          before: shown(each.before, each, found.setUp),
          after: shown(each.after, each, found.setUp),
        })),
        faults,
      }
    },
    change: (wanted, by) => oneChange(() => switchOn(wanted, by, options)),
  }
}

interface Suited {
  readonly extension: Extension
  readonly setUp: SetUp
}

/** `--auth none` lets an owner in who is locked out: the set-up holds from the next start on. */
function isNone({ given: { auth } }: SignInAdminOptions): boolean {
  return auth?.length === 0
}

/** The extension that owners set up on the page. @throws {WireError} 409 */
async function suited(options: SignInAdminOptions): Promise<Suited> {
  const { environment, extensions } = options
  const auth = isNone(options) ? undefined : options.given.auth
  if (accessFile(environment) === undefined)
    throw refused('There is no home folder for the files of sign-in: set SVC_HOME, and start svc again')
  if (extensions.people !== undefined) throw refused('People sign in already')
  const all = await Promise.all(names.map(async (name) => (await load(name)).extension))
  const found = all.flatMap((extension) =>
    extension.setUp === undefined ? [] : [{ extension, setUp: extension.setUp }],
  )
  const [one] = found.filter(({ extension }) => auth === undefined || auth.includes(extension.name))
  if (one !== undefined) return one
  throw refused(
    auth === undefined
      ? 'This svc has no extension for sign-in'
      : 'svc was started with --auth or SVC_AUTH, which come before providers.json: start it without them',
  )
}

function refused(message: string): WireError {
  return new WireError(409, 'invalid_request_error', 'not_changeable', message)
}

function mayAddKeys(options: SignInAdminOptions): boolean {
  return (options.given.auth === undefined || isNone(options)) && !haveKeys(options.extensions.contributions)
}

/** The file of the extension, and providers.json, with a set-up. @throws {WireError} 409 for a faulty file */
async function edited(
  { user, others, hasKeys, origin, clientSecret = notTyped, ...given }: SignInChange,
  { extension, setUp }: Suited,
  options: SignInAdminOptions,
): Promise<readonly [Edited, Edited]> {
  const users = [...new Set([user, ...others])]
  const members = setUp.members({ ...given, clientSecret, users, redirectUri: `${origin}${setUp.callbackPath}` })
  const names = [extension.name, ...(hasKeys && mayAddKeys(options) ? ['keys'] : [])]
  const signIn = { owner: user, extensions: options.given.auth === undefined || isNone(options) ? names : [] }
  return [
    await editedFile(extensionFile(options.environment, extension.name), Object.keys(members), (text) =>
      withMembers(text, members),
    ),
    await editedFile(options.file, ['owners', 'auth'], (text) => withSignIn(text ?? options.firstText(), signIn)),
  ]
}

async function editedFile(
  file: string,
  members: readonly string[],
  edit: (text: string | undefined) => string,
): Promise<Edited> {
  try {
    const before = await readConfigText(file)
    return { file, before, after: edit(before), members }
  } catch (error) {
    return fileRefusals(basename(file)).asFaults(error)
  }
}

/** What the extension would add. Nothing is sent. @throws {ConfigError} for faults of either file */
async function made(
  [ofExtension, providers]: readonly [Edited, Edited],
  { extension }: Suited,
  { environment, keys, fetch }: SignInAdminOptions,
): Promise<Contribution> {
  parseConfig(providers.after, { file: providers.file, environment: keys.environment })
  const file = await parseExtensionFile(ofExtension.after, { file: ofExtension.file, environment })
  const quiet = () => undefined
  const started = await startWith(extension, file, {
    name: extension.name,
    stores: memoryStores(Date.now),
    fetch,
    log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
  })
  if (started === undefined) throw new Error(`${extension.name} is off with the file of its own set-up`)
  return started
}

/** The members that may change, one a line. Other members may be secrets. */
function shown(text: string | undefined, { members }: Edited, { secretMember }: SetUp): string {
  return members
    .flatMap((name) => {
      const value = valueAt(text ?? '{}', [name])
      if (value === undefined) return []
      const written = JSON.stringify(name === secretMember ? hidden : value, undefined, 1)
      return [`"${name}": ${written.replace(/\n\s*/g, ' ')}`]
    })
    .join(',\n')
}

function versionOf(files: readonly Edited[]): string {
  return files.map(({ before }) => fingerprint(before)).join('.')
}

async function switchOn(wanted: SignInChange, by: string | undefined, options: SignInAdminOptions): Promise<void> {
  if (wanted.clientSecret === undefined)
    throw invalidRequest('missing_required_parameter', "'clientSecret' is missing.", 'clientSecret')
  const found = await suited(options)
  const files = await edited(wanted, found, options)
  if (wanted.version !== versionOf(files)) throw fileRefusals('providers.json or config.json').conflict()
  const contribution = await made(files, found, options).catch((error: unknown) => {
    if (!(error instanceof ConfigError)) throw error
    throw invalidRequest('invalid_value', `Nothing was written: ${faultsInWords(error)}.`, 'user')
  })
  await contribution.probe?.()
  await contribution.close?.()
  const written: Edited[] = []
  try {
    for (const each of files) {
      await changePageFile(
        { file: each.file, version: fingerprint(each.before), user: by, edit: () => each.after },
        options,
      )
      written.push(each)
    }
    const isUsed = await options.reload()
    for (const running of options.extensions.all) if (running.name === found.extension.name) await running.reload()
    if (!isUsed || (options.extensions.people === undefined && !isNone(options))) throw notActive()
  } catch (error) {
    for (const { file, before, after } of written.toReversed())
      await (before === undefined ? rm(file, { force: true }) : writeConfig(file, before, fingerprint(after)))
    if (written.length > 0) await options.reload()
    throw error
  }
}

function notActive(): WireError {
  const message = 'Sign-in did not start, and the files are as they were before; the service log says why'
  return new WireError(503, 'overloaded_error', 'not_active', message)
}
