import { readFile } from 'node:fs/promises'
import { firstChatModel } from '../src/base/chat-model.ts'
import { booleanFlag, show, textFlag, runningUrlFlag } from '../src/base/command-line/arguments.ts'
import type { Command, CommandContext } from '../src/base/command-line/command.ts'
import {
  member,
  ServiceRefusal,
  serviceRoot,
  serviceUrl,
  sessionToken,
  tryParseJson,
} from '../src/base/command-line/running-service.ts'
import { isMissing } from '../src/base/error-code.ts'
import { nearestName } from '../src/base/nearest.ts'
import { harmless } from '../src/base/shown-text.ts'
import { UsageError } from '../src/base/start-errors.ts'
import { clientGuides, type ClientGuide, type ClientTarget, type SettingsFile } from './connect/client-settings.ts'
import { editSettings, SettingsError } from './connect/edit-settings.ts'
import type { ClientHost, JsonEditor, ServiceLink } from './host.ts'
import { keptTokens, lastingTokens } from './login.ts'

const flags = {
  url: runningUrlFlag,
  model: textFlag('model that the client asks for', 'MODEL', {
    short: 'm',
    environment: 'SVC_MODEL',
    otherwise: 'the first chat model',
  }),
  write: booleanFlag("write the settings into the client's file, and keep a copy of the file as it was"),
}

type Context = CommandContext<typeof flags>

const names = clientGuides.map(({ name }) => name)
const answerMs = 30_000
const interrupted = 130
const listedMax = 10
/** Printed in place of the token. */
const tokenMark = '$SVC_TOKEN'

/** `svc connect` (docs/commands.md). */
export function connectCommand(host: ClientHost): Command<typeof flags> {
  return {
    name: 'connect',
    summary: 'print or write the settings of a client program for a running service',
    flags,
    arguments: { usage: 'CLIENT', summary: names.join(', '), words: names, maximum: 1 },
    examples: [
      { command: 'svc connect codex', does: 'prints what to set in Codex' },
      { command: 'svc connect claude-code --model my-model --write', does: 'sets up Claude Code' },
      {
        command: 'SVC_TOKEN=… svc connect opencode --url https://svc.example.org',
        does: 'for a service with sign-in or keys; the token is a session token or a key',
      },
    ],
    exitCodes: { 130: 'stopped by Ctrl-C' },
    run: (context) => runConnect(host, context),
  }
}

async function runConnect(host: ClientHost, context: Context): Promise<number> {
  const { flags, environment, stdout, stderr, signal } = context
  const guide = guideOf(context)
  const root = serviceRoot(serviceUrl(flags.url))
  const given = sessionToken(environment, 'set it to a key of svc keys make, or to a session token of /auth/session')
  const signedIn = given === undefined ? await agentToken(host, root, context) : undefined
  const token = given ?? signedIn
  const tools = { writeFile: host.writeFile, editJson: await host.jsonEditor() }
  const link = await host.connect(new URL(root), token)
  try {
    const service = { root, link, signal: AbortSignal.any([signal, AbortSignal.timeout(answerMs)]) }
    const models = await listModels(service)
    const chosen = flags.model === undefined ? firstOf(models, root) : findModel(flags.model, models)
    const signIn = signedIn === undefined ? await offeredSignIn(guide, service) : 'done'
    const model = { model: chosen.name, context: chosen.context }
    const connection: ClientTarget = { root, ...model, token: given, signIn, environment }
    if (flags.model === undefined && models.length > 1) stderr.write(`${describeOthers(chosen, models)}\n`)
    if (flags.write) await writeFiles(tools, guide, connection, context)
    else stdout.write(printed(tools, guide, { ...connection, token: given && tokenMark }))
    return 0
  } catch (error) {
    if (signal.aborted) return interrupted
    throw error
  } finally {
    link.close()
  }
}

function guideOf({ positionals: [name] }: Context): ClientGuide {
  const guide = clientGuides.find((each) => each.name === name)
  if (guide !== undefined) return guide
  if (name === undefined) throw new UsageError(`the client is missing: svc connect ${names.join('|')}`)
  const near = nearestName(name, names)
  const advice = near === undefined ? `allowed: ${names.join(', ')}` : `did you mean ${near}?`
  throw new UsageError(`unknown client ${show(name)}: ${advice}`)
}

interface RunningService {
  readonly root: string
  readonly link: ServiceLink
  readonly signal: AbortSignal
}

interface ListedModel {
  readonly name: string
  readonly context: number | undefined
}

/** Asks the service whether it runs, and for its models. */
async function listModels({ root, link, signal }: RunningService): Promise<readonly ListedModel[]> {
  const ask = async (path: string) => (await link.ask(path, undefined, signal)).body.readAll()
  await ask('/health').catch((cause: unknown) => {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`${reason}: start the service, or name its address with --url`, { cause })
  })
  const list = tryParseJson(
    await ask('/v1/models').catch((error: unknown) => {
      throw explained(error, root)
    }),
  )
  const data = member(list, 'data')
  if (!Array.isArray(data)) throw new Error(`${root} does not list models as svc does`)
  return data.flatMap((each: unknown) => {
    const [name, context] = [member(each, 'id'), member(each, 'context')]
    if (typeof name !== 'string' || harmless(name) !== name) return []
    return [{ name, context: typeof context === 'number' ? context : undefined }]
  })
}

function explained(error: unknown, root: string): unknown {
  if (!(error instanceof ServiceRefusal) || error.status !== 401) return error
  return new Error(
    `${error.message}: set SVC_TOKEN to a key of svc keys make, or to a session token, ` +
      `which ${root}/auth/session shows in the browser`,
  )
}

function firstOf(models: readonly ListedModel[], root: string): ListedModel {
  const model = firstChatModel(models)
  if (model === undefined) throw new Error(`${root} offers no model`)
  return model
}

/** A listed model; `provider/model` asks one provider only. */
function findModel(name: string, models: readonly ListedModel[]): ListedModel {
  const found = models.find((model) => model.name === name || name.endsWith(`/${model.name}`))
  if (found !== undefined) return { ...found, name }
  const listed = models.map((model) => model.name)
  const near = nearestName(name, listed)
  const advice = near === undefined ? `its models are ${shortList(listed)}` : `did you mean ${near}?`
  throw new UsageError(`--model: the service does not offer ${show(name)}: ${advice}`)
}

function describeOthers(chosen: ListedModel, models: readonly ListedModel[]): string {
  const others = models.map(({ name }) => name).filter((name) => name !== chosen.name)
  return `svc: model ${chosen.name}; others with --model: ${shortList(others)}`
}

function shortList(names: readonly string[]): string {
  const more = names.length - listedMax
  return names.slice(0, listedMax).join(', ') + (more > 0 ? ` and ${more} more` : '')
}

interface FileTools extends Pick<ClientHost, 'writeFile'> {
  readonly editJson: JsonEditor
}

/** The token of `svc login` at a service. `undefined`: this machine is not signed in there. */
async function agentToken(host: ClientHost, root: string, { environment, signal }: Context) {
  const kept = keptTokens(host, environment)
  if ((await kept.get(root).catch(() => undefined)) === undefined) return undefined
  return (await lastingTokens(host, kept, root, signal)).access
}

async function offeredSignIn(
  { otherWays }: ClientGuide,
  { link, signal }: RunningService,
): Promise<'none' | 'offered'> {
  if (otherWays === undefined) return 'none'
  try {
    const answer = await link.ask('/.well-known/oauth-authorization-server', undefined, signal)
    const endpoint = member(tryParseJson(await answer.body.readAll()), 'device_authorization_endpoint')
    return typeof endpoint === 'string' ? 'offered' : 'none'
  } catch {
    // It lets no agents sign in.
    return 'none'
  }
}

function printed(
  { editJson }: FileTools,
  { title, files, commands, otherWays }: ClientGuide,
  connection: ClientTarget,
): string {
  const sections = (files?.(connection) ?? []).map(
    (file) =>
      `${file.path}:\n\n${'text' in file ? file.text : editSettings(file.language, '', file.settings, editJson)}`,
  )
  const heading = `${title} with ${connection.model} at ${connection.root}`
  const ways = otherWays?.(connection) ?? []
  return [heading, ...sections, commands(connection).join('\n'), ...ways].join('\n\n').replace(/\n{3,}/g, '\n\n') + '\n'
}

async function writeFiles(
  tools: FileTools,
  { title, files, commands }: ClientGuide,
  connection: ClientTarget,
  { stdout }: Context,
): Promise<void> {
  if (files === undefined)
    throw new UsageError(`${title} is not set up by a file; without --write, the command prints what to enter`)
  for (const file of files(connection)) stdout.write(`${await writeSettings(tools, file)}\n`)
  stdout.write(`${commands(connection).join('\n')}\n`)
}

/** Writes one file if that changes it, and keeps a copy of the old one. @returns a line about it, for the terminal */
async function writeSettings(tools: FileTools, file: SettingsFile): Promise<string> {
  const { path } = file
  const before = await readIfThere(path)
  const text = 'text' in file ? file.text : edited(tools, file, before ?? '')
  if (text === before) return `${path} has these settings already`
  if (before === undefined) {
    await tools.writeFile(path, text, { text: undefined })
    return `${path} written`
  }
  const copy = `${path}.${new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '')}.bak`
  await tools.writeFile(copy, before)
  await tools.writeFile(path, text, { text: before })
  return `${path} changed; as it was: ${copy}`
}

function edited(
  { editJson }: FileTools,
  { path, language, settings }: Exclude<SettingsFile, { readonly text: string }>,
  before: string,
): string {
  try {
    return editSettings(language, before, settings, editJson)
  } catch (error) {
    if (error instanceof SettingsError)
      throw new Error(`${path} ${error.message}: without --write, the command prints what to add`, { cause: error })
    throw error
  }
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}
