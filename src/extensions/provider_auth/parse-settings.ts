import type { ExtensionConfig } from '../extension.ts'
import { configFields, type ConfigFields, type TextRule } from './config-fields.ts'
import { networkOf } from './ip-address.ts'
import { isLoopback } from './provider-url.ts'
import { readProvider, type ChosenProvider } from './read-provider.ts'
import { parseAllowList } from './restrict-to.ts'
import type { Settings, UserFields } from './settings.ts'

/** A configuration file, understood. */
export interface ParsedSettings {
  readonly settings: Settings
  /** What its owner should know, in the order of its weight: lines for the log. They hold no secrets. */
  readonly warnings: readonly string[]
}

/** What `config.json` may hold (docs/sign-in.md). */
const memberNames = [
  'client_id',
  'client_secret',
  'redirect_uri',
  'restrict_to',
  'enabled',
  'provider',
  'base_url',
  'tenant',
  'issuer',
  'authorize_url',
  'token_url',
  'user_url',
  'scope',
  'token_auth_method',
  'pkce',
  'user_fields',
  'display_name',
  'allow_insecure_http',
  'cookie_name',
  'requests_per_minute',
  'trusted_proxies',
]

const requestsPerMinuteDefault = 120

/**
 * Reads the configuration of the sign-in; `undefined`: it says that sign-in is off. Nothing but `"enabled": false` says
 * so.
 *
 * @throws {ExtensionConfigFault} for the first thing that is not as it must be
 */
export function parseSettings(config: ExtensionConfig): ParsedSettings | undefined {
  const { client_secret: secret } = config.values
  const fields = configFields(config, {
    names: ['client_id', 'client_secret'],
    texts: typeof secret === 'string' && secret !== '' ? [secret] : [],
  })
  if (fields.flag('enabled') === false) return undefined
  fields.refuseOthers(memberNames)
  refusePlaceholders(fields)
  const allowsInsecureHttp = fields.flag('allow_insecure_http') ?? false
  const provider = readProvider(fields, allowsInsecureHttp)
  const clientAndAddress = readClient(fields)
  const restrictTo = readRestriction(fields)
  const settings: Settings = {
    ...clientAndAddress,
    endpoints: provider.endpoints,
    scope: readScope(fields, provider),
    tokenAuthMethod:
      fields.word('token_auth_method', ['client_secret_post', 'client_secret_basic']) ?? 'client_secret_post',
    hasPkce: fields.flag('pkce') ?? true,
    userFields: readUserFields(fields, provider),
    displayName: fields.text('display_name', displayNameRule) ?? provider.displayName,
    ...(restrictTo === undefined ? {} : { restrictTo }),
    allowsInsecureHttp,
    cookieName: readCookieName(fields, clientAndAddress.redirectUri),
    requestsPerMinute: fields.integer('requests_per_minute', 0, 1_000_000) ?? requestsPerMinuteDefault,
    trustedProxies: readTrustedProxies(fields),
  }
  return { settings, warnings: warningsOf(fields, settings, restrictTo?.isEmpty ?? false) }
}

const placeholders = ['PROVIDER_CLIENT_ID', 'PROVIDER_CLIENT_SECRET', 'PROVIDER_USERS']

/** Without its `$`, the name of a variable would be sent to the identity provider, or let in whoever is called so. */
function refusePlaceholders(fields: ConfigFields): void {
  for (const name of ['client_id', 'client_secret', 'restrict_to']) {
    const placeholder = fields
      .texts(name, name === 'restrict_to' ? restrictionAllowed : credentialRule.allowed)
      ?.find((text) => placeholders.includes(text.trim()))
    if (placeholder !== undefined)
      fields.refuse(
        name,
        `"$${placeholder.trim()}", for the environment variable of that name`,
        'the name of a variable without its "$"',
      )
  }
}

const credentialRule: TextRule = {
  allowed: 'what the identity provider gave: visible characters, or "$NAME" of a variable that holds it',
  pattern: /^(?:[\u0021-\u007e](?:[\u0020-\u007e]*[\u0021-\u007e])?)?$/,
  lengthMax: 4096,
}

const redirectRule: TextRule = {
  allowed:
    'an http or https URL with exactly the path /auth/provider/callback, as in "https://chat.example.org/auth/provider/callback", without user name, query or fragment',
  pattern: /^https?:\/\/[^\s/?#\\@]+\/auth\/provider\/callback$/,
  lengthMax: 2048,
}

function readClient(fields: ConfigFields): Pick<Settings, 'client' | 'redirectUri'> {
  const id = fields.text('client_id', credentialRule) ?? ''
  const secret = fields.text('client_secret', credentialRule) ?? ''
  const redirectUri = fields.text('redirect_uri', redirectRule)
  if (redirectUri !== undefined && !URL.canParse(redirectUri)) fields.refuse('redirect_uri', redirectRule.allowed)
  if (id === '' || secret === '') return redirectUri === undefined ? {} : { redirectUri }
  return { client: { id, secret }, redirectUri: redirectUri ?? fields.refuse('redirect_uri', redirectRule.allowed) }
}

/** RFC 6749 section 3.3. */
const scopeRule: TextRule = {
  allowed: 'scopes separated by blanks',
  pattern: /^[\u0021\u0023-\u005b\u005d-\u007e ]*$/,
  lengthMax: 1024,
}

function readScope(fields: ConfigFields, { scope, endpoints }: ChosenProvider): string {
  const scopes = (fields.text('scope', scopeRule) ?? scope).split(' ').filter((each) => each !== '')
  if (endpoints.kind === 'openid' && !scopes.includes('openid'))
    fields.refuse('scope', 'scopes separated by blanks, "openid" among them')
  return scopes.join(' ')
}

const memberRule: TextRule = { allowed: 'the name of a member', pattern: /^[^\u0000-\u001f\u007f]+$/, lengthMax: 128 }
const optionalMemberRule: TextRule = {
  allowed: 'the name of a member, or "" for none',
  pattern: /^[^\u0000-\u001f\u007f]*$/,
  lengthMax: 128,
}

function readUserFields(fields: ConfigFields, { userFields, neverUsername }: ChosenProvider): UserFields {
  const variable = fields.unset('user_fields')
  if (variable !== undefined)
    fields.refuse('user_fields', 'a variable that is set, or this member left out', `$${variable}, which is not set`)
  const members = fields.object('user_fields')
  if (members === undefined) return userFields
  members.refuseOthers(['id', 'username', 'display_name', 'avatar', 'email'])
  const username = members.text('username', memberRule) ?? userFields.username
  if (neverUsername.includes(username))
    members.refuse('username', `a member that people cannot set as they like, such as "${userFields.username}"`)
  return {
    id: members.text('id', memberRule) ?? userFields.id,
    username,
    displayName: members.text('display_name', optionalMemberRule) ?? userFields.displayName,
    avatar: members.text('avatar', optionalMemberRule) ?? userFields.avatar,
    email: members.text('email', optionalMemberRule) ?? userFields.email,
  }
}

const displayNameRule: TextRule = {
  allowed: 'a name for the button, as in "GitHub"',
  pattern: /^(?=.*\S)[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+$/u,
  lengthMax: 64,
}

const restrictionAllowed = 'user names in one text, separated by commas or blanks, or in an array of texts'

function readRestriction(fields: ConfigFields): ReturnType<typeof parseAllowList> | undefined {
  const texts = fields.texts('restrict_to', restrictionAllowed)
  // An empty text is how an environment says "none"; an empty array is a list with nobody on it.
  return texts === undefined || fields.isEmpty('restrict_to') ? undefined : parseAllowList(texts)
}

/** RFC 6265 section 4.1.1. `svc_flow_` is the beginning of the cookies that bind a sign-in to its browser. */
const cookieNameRule: TextRule = {
  allowed: 'a cookie name: letters, digits and any of !#$%&\'*+-.^_`|~, not beginning with "svc_flow_"',
  pattern: /^(?!(?:__Host-)?svc_flow_)[!#$%&'*+.^_`|~0-9A-Za-z-]+$/i,
  lengthMax: 64,
}

function readCookieName(fields: ConfigFields, redirectUri: string | undefined): string {
  const name = fields.text('cookie_name', cookieNameRule) ?? 'token'
  const isHttps = redirectUri !== undefined && URL.parse(redirectUri)?.protocol === 'https:'
  if (/^__(?:Host|Secure)-/i.test(name) && !isHttps)
    fields.refuse(
      'cookie_name',
      'a name without prefix: browsers take "__Host-" and "__Secure-" over https only, and redirect_uri is not https',
    )
  return name
}

const networksAllowed = 'IP addresses or networks such as "10.0.0.0/8", in an array or separated by commas or blanks'

function readTrustedProxies(fields: ConfigFields): readonly string[] {
  const entries = (fields.texts('trusted_proxies', networksAllowed) ?? [])
    .flatMap((text) => text.split(/[,\s]+/))
    .filter((entry) => entry !== '')
  const faulty = entries.find((entry) => networkOf(entry) === undefined)
  return faulty === undefined
    ? entries
    : fields.refuse('trusted_proxies', networksAllowed, `${fields.shown(faulty)} among them`)
}

function warningsOf(
  fields: ConfigFields,
  { client, redirectUri, restrictTo, displayName, allowsInsecureHttp, trustedProxies }: Settings,
  isNobody: boolean,
): readonly string[] {
  const users = fields.unset('restrict_to')
  const redirect = redirectUri === undefined ? undefined : new URL(redirectUri)
  return [
    ...(client === undefined ? ['client_id', 'client_secret'] : [])
      .filter((name) => !fields.has(name) || fields.isEmpty(name))
      .map((name) => `Provider OAuth not configured, nobody can sign in: ${absence(fields, name)}`),
    ...(restrictTo !== undefined
      ? []
      : [`everybody who has an account at ${displayName} may sign in: ${absence(fields, 'restrict_to')}`]),
    ...(isNobody ? ['nobody may sign in: restrict_to is there and names nobody'] : []),
    ...(restrictTo !== undefined && users !== undefined
      ? [`restrict_to lacks what $${users} was to name: it is not set`]
      : []),
    ...(redirect?.protocol === 'http:' && !isLoopback(redirect)
      ? ['sessions can be read on the way: redirect_uri is http, and not on this machine']
      : []),
    ...(allowsInsecureHttp
      ? ['what the identity provider answers can be read and changed on the way: allow_insecure_http is true']
      : []),
    ...(trustedProxies.some((network) => /\/0+$/.test(network))
      ? ['everybody may claim any address: trusted_proxies holds a network of all addresses']
      : []),
    ...optionalNames
      .filter((name) => fields.unset(name) !== undefined && !fields.has(name))
      .map((name) => `${name} is as if it were not there: $${fields.unset(name)} is not set`),
  ]
}

/** Members without which there is a default that harms nobody. */
const optionalNames = [
  'enabled',
  'scope',
  'token_auth_method',
  'pkce',
  'display_name',
  'allow_insecure_http',
  'cookie_name',
  'requests_per_minute',
  'trusted_proxies',
]

function absence(fields: ConfigFields, name: string): string {
  const variable = fields.unset(name)
  if (variable !== undefined) return `${name} is $${variable}, which is not set`
  return fields.has(name) ? `${name} is empty` : `${name} is not there`
}
