import { isAbsolute, join } from 'node:path'
import type { CommandContext } from '../../src/base/command-line/command.ts'
import { userHome } from '../../src/base/user-home.ts'
import type { Setting, SettingsLanguage } from './edit-settings.ts'

/** The running service and the model that a client shall use. */
export interface ClientTarget {
  /** Without a trailing slash, such as `http://127.0.0.1:8000`. */
  readonly root: string
  readonly model: string
  /** Tokens of the model's context, where known. */
  readonly context: number | undefined
  /** Stands for the session token; undefined without sign-in. */
  readonly token: string | undefined
  /** Whether the service lets agents sign in, and whether this machine has, without another token. */
  readonly signIn: 'none' | 'offered' | 'done'
  readonly environment: CommandContext['environment']
}

/** A settings file of a client: values in a file that has others, or a whole file for svc alone. */
export type SettingsFile =
  | { readonly path: string; readonly language: SettingsLanguage; readonly settings: readonly Setting[] }
  | { readonly path: string; readonly text: string }

/** How a client program is set up. Each was tried (docs/clients.md). */
export interface ClientGuide {
  /** Its name on the command line. */
  readonly name: string
  readonly title: string
  /** Its settings files. Absent: it is set up by commands, or by variables of the shell. */
  readonly files?: (connection: ClientTarget) => readonly SettingsFile[]
  /** Commands to enter, after the files are written. `$SVC_TOKEN` stands for the session token. */
  readonly commands: (connection: ClientTarget) => readonly string[]
  /** Other ways to sign in, as text. Absent: there is none, also none by `svc login`. */
  readonly otherWays?: (connection: ClientTarget) => readonly string[]
}

/** The client programs that `svc connect` knows. */
export const clientGuides: readonly ClientGuide[] = [
  {
    name: 'claude-code',
    title: 'Claude Code',
    files: (connection) => {
      const { root, model, context } = connection
      const isSignedIn = connection.signIn === 'done'
      const variables = {
        ANTHROPIC_BASE_URL: root,
        ...(isSignedIn ? {} : { ANTHROPIC_AUTH_TOKEN: keyOf(connection) }),
        ANTHROPIC_MODEL: model,
        ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
        ...(context === undefined ? {} : { CLAUDE_CODE_MAX_CONTEXT_TOKENS: String(context) }),
      }
      const inShell = Object.entries(variables).map(([name, value]): Setting => ({ path: ['env', name], value }))
      const helper: readonly Setting[] = isSignedIn ? [{ path: ['apiKeyHelper'], value: tokenCommandOf(root) }] : []
      const settings = [...helper, ...inShell]
      const path = join(folderOf(connection, 'CLAUDE_CONFIG_DIR', '.claude'), 'settings.json')
      return [{ path, language: 'json', settings }]
    },
    commands: () => ['claude'],
    otherWays: ({ signIn, root }) => (signIn === 'none' ? [] : claudeCodeWays(signIn, root)),
  },
  {
    name: 'codex',
    title: 'Codex',
    files: (connection) => {
      const { root, model, context, token } = connection
      const table = ['model_providers', 'svc'] as const
      const path = join(folderOf(connection, 'CODEX_HOME', '.codex'), 'config.toml')
      const settings: readonly Setting[] = [
        { path: ['model'], value: model },
        { path: ['model_provider'], value: 'svc' },
        ...(context === undefined ? [] : [{ path: ['model_context_window'], value: context } as const]),
        { path: [...table, 'name'], value: 'svc' },
        { path: [...table, 'base_url'], value: `${root}/v1` },
        { path: [...table, 'wire_api'], value: 'responses' },
        ...(token === undefined ? [] : [{ path: [...table, 'env_key'], value: 'SVC_TOKEN' } as const]),
        ...(connection.signIn === 'done' ? codexSignIn(root) : []),
      ]
      return [{ path, language: 'toml', settings }]
    },
    commands: ({ token }) => (token === undefined ? ['codex'] : ['export SVC_TOKEN', 'codex']),
    otherWays: ({ signIn, root }) => (signIn === 'offered' ? [loginWay('codex', root)] : []),
  },
  {
    name: 'gemini-cli',
    title: 'Gemini CLI',
    files: (connection) => {
      const { root, model } = connection
      const folder = join(homeOf(connection), '.gemini')
      const settings: readonly Setting[] = [
        { path: ['security', 'auth', 'selectedType'], value: 'gemini-api-key' },
        { path: ['model', 'name'], value: model },
      ]
      const variables: readonly Setting[] = [
        { path: ['GOOGLE_GEMINI_BASE_URL'], value: root },
        { path: ['GEMINI_API_KEY'], value: keyOf(connection) },
      ]
      return [
        { path: join(folder, 'settings.json'), language: 'json', settings },
        { path: join(folder, '.env'), language: 'env', settings: variables },
      ]
    },
    commands: () => ['gemini'],
  },
  {
    name: 'opencode',
    title: 'opencode',
    files: (connection) => {
      const { root, model, token } = connection
      const provider = ['provider', 'svc'] as const
      const path = join(folderOf(connection, 'XDG_CONFIG_HOME', '.config'), 'opencode', 'opencode.json')
      const settings: readonly Setting[] = [
        { path: ['model'], value: `svc/${model}` },
        { path: ['small_model'], value: `svc/${model}` },
        { path: [...provider, 'npm'], value: '@ai-sdk/openai-compatible' },
        { path: [...provider, 'name'], value: 'svc' },
        { path: [...provider, 'options', 'baseURL'], value: `${root}/v1` },
        { path: [...provider, 'options', 'apiKey'], value: token === undefined ? noKey : '{env:SVC_TOKEN}' },
        { path: [...provider, 'models', model, 'name'], value: model },
      ]
      return [{ path, language: 'json', settings }]
    },
    commands: ({ token }) => (token === undefined ? ['opencode'] : ['export SVC_TOKEN', 'opencode']),
  },
  {
    name: 'cline',
    title: 'Cline',
    commands: ({ root, model, token }) => [
      `cline auth openai --baseurl ${quoted(`${root}/v1`)} --apikey ${shellKey(token)} --modelid ${quoted(model)}`,
      'cline',
    ],
  },
  {
    name: 'continue',
    title: 'Continue',
    files: (connection) => [{ path: continueFile(connection), text: continueText(connection) }],
    commands: (connection) => [`cn --config ${quoted(continueFile(connection))}`],
  },
  {
    name: 'aider',
    title: 'aider',
    files: (connection) => {
      const { root, model } = connection
      const settings: readonly Setting[] = [
        { path: ['model'], value: `openai/${model}` },
        { path: ['openai-api-base'], value: `${root}/v1` },
        { path: ['openai-api-key'], value: keyOf(connection) },
      ]
      return [{ path: join(homeOf(connection), '.aider.conf.yml'), language: 'yaml', settings }]
    },
    commands: () => ['aider'],
  },
  {
    name: 'copilot',
    title: 'GitHub Copilot CLI',
    commands: ({ root, model, context, token }) => [
      `export COPILOT_PROVIDER_BASE_URL=${quoted(`${root}/v1`)} COPILOT_PROVIDER_API_KEY=${shellKey(token)}`,
      `export COPILOT_MODEL=${quoted(model)}`,
      ...(context === undefined ? [] : [`export COPILOT_PROVIDER_MAX_PROMPT_TOKENS=${context}`]),
      'copilot',
    ],
  },
  {
    name: 'qwen-code',
    title: 'Qwen Code',
    files: (connection) => {
      const { root, model } = connection
      const folder = join(homeOf(connection), '.qwen')
      const settings: readonly Setting[] = [
        { path: ['security', 'auth', 'selectedType'], value: 'openai' },
        { path: ['model', 'name'], value: model },
        // It repeats requests itself, beside the library that it uses: together more than a hundred times.
        { path: ['model', 'generationConfig', 'maxRetries'], value: 0 },
      ]
      const variables: readonly Setting[] = [
        { path: ['OPENAI_BASE_URL'], value: `${root}/v1` },
        { path: ['OPENAI_API_KEY'], value: keyOf(connection) },
      ]
      return [
        { path: join(folder, 'settings.json'), language: 'json', settings },
        { path: join(folder, '.env'), language: 'env', settings: variables },
      ]
    },
    commands: () => ['qwen'],
  },
  {
    name: 'pi',
    title: 'pi',
    files: (connection) => {
      const { root, model, context, token } = connection
      const folder = folderOf(connection, 'PI_CODING_AGENT_DIR', join('.pi', 'agent'))
      const provider = ['providers', 'svc'] as const
      const models: readonly Setting[] = [
        { path: [...provider, 'baseUrl'], value: `${root}/v1` },
        { path: [...provider, 'api'], value: 'openai-completions' },
        // The name of a variable stands for its value.
        { path: [...provider, 'apiKey'], value: token === undefined ? noKey : 'SVC_TOKEN' },
        {
          path: [...provider, 'models'],
          value: [{ id: model, ...(context === undefined ? {} : { contextWindow: context }) }],
        },
      ]
      const settings: readonly Setting[] = [
        { path: ['defaultProvider'], value: 'svc' },
        { path: ['defaultModel'], value: model },
      ]
      return [
        { path: join(folder, 'models.json'), language: 'json', settings: models },
        { path: join(folder, 'settings.json'), language: 'json', settings },
      ]
    },
    commands: ({ token }) => (token === undefined ? ['pi'] : ['export SVC_TOKEN', 'pi']),
  },
  {
    name: 'libraries',
    title: 'Libraries of OpenAI, Anthropic and Google',
    commands: ({ root, token }) => [
      `export OPENAI_BASE_URL=${quoted(`${root}/v1`)} OPENAI_API_KEY=${shellKey(token)}`,
      `export ANTHROPIC_BASE_URL=${quoted(root)} ANTHROPIC_AUTH_TOKEN=${shellKey(token)}`,
      `export GOOGLE_GEMINI_BASE_URL=${quoted(root)} GEMINI_API_KEY=${shellKey(token)}`,
    ],
  },
]

/** The command that prints a token of `svc login`. */
function tokenCommandOf(root: string): string {
  return `svc token --url ${quoted(root)}`
}

function codexSignIn(root: string): readonly Setting[] {
  const table = ['model_providers', 'svc', 'auth'] as const
  return [
    { path: [...table, 'command'], value: 'svc' },
    { path: [...table, 'args'], value: ['token', '--url', root] },
  ]
}

function loginWay(client: string, root: string): string {
  const url = quoted(root)
  return `Or with your own account, without a key:\n\nsvc login ${url}\nsvc connect ${client} --url ${url}`
}

function claudeCodeWays(signIn: 'offered' | 'done', root: string): readonly string[] {
  const managed = JSON.stringify({ forceLoginMethod: 'gateway', forceLoginGatewayUrl: root }, undefined, 2)
  return [
    'Or by /login in Claude Code, where an administrator has written /etc/claude-code/managed-settings.json (Linux):' +
      `\n\n${managed}`,
    signIn === 'done'
      ? 'Or with a key: ANTHROPIC_AUTH_TOKEN in "env", and no apiKeyHelper'
      : loginWay('claude-code', root),
  ]
}

/** Clients send a key always; without sign-in svc ignores it. */
const noKey = 'any'

function keyOf({ token }: ClientTarget): string {
  return token ?? noKey
}

/** The key on a command line, which other users of the machine can see: by the name of its variable. */
function shellKey(token: string | undefined): string {
  return token === undefined ? noKey : '"$SVC_TOKEN"'
}

/** Quoted for a shell, if it needs to be. */
function quoted(text: string): string {
  return /^[\w./:@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
}

function homeOf({ environment }: ClientTarget): string {
  return userHome(environment, 'the settings of clients are there')
}

/** The folder that a variable names, else one in the home directory. */
function folderOf(connection: ClientTarget, variable: string, name: string): string {
  const folder = connection.environment[variable]
  return folder !== undefined && isAbsolute(folder) ? folder : join(homeOf(connection), name)
}

/** A file of its own: the extension for editors has a list of models, in which svc would have to find its own. */
function continueFile(connection: ClientTarget): string {
  return join(folderOf(connection, 'CONTINUE_GLOBAL_DIR', '.continue'), 'svc.yaml')
}

function continueText(connection: ClientTarget): string {
  const { root, model } = connection
  const written = JSON.stringify
  return `name: svc
version: 1.0.0
schema: v1
models:
  - name: ${written(model)}
    provider: openai
    model: ${written(model)}
    apiBase: ${written(`${root}/v1`)}
    apiKey: ${written(keyOf(connection))}
`
}
