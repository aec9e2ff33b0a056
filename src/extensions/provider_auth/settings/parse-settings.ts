import { parseNetwork } from '../../../base/ip-address.ts'
import { oneLine, type TextRule } from '../../../base/text-rule.ts'
import { isLoopbackHost } from '../../../base/this-machine.ts'
import { wordShape } from '../../../shapes/shape.ts'
import type { ExtensionConfig } from '../../extension.ts'
import { familyDaysMax } from '../agents/families.ts'
import { readProvider, type ChosenProvider } from '../oauth/read-provider.ts'
import { ConfigFields, textsShape, writtenFlag, writtenInteger } from './config-fields.ts'
import { parseAllowList } from './restrict-to.ts'
import type { Settings, UserFields } from './settings.ts'

/** A parsed configuration file. */
export interface ParsedSettings {
  readonly settings: Settings
  /** Log messages for the owner, the most important first. They hold no secrets. */
  readonly warnings: readonly string[]
}

/** Members of `config.json` (docs/sign-in.md). */
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
  'sign_in_note',
  'icon',
  'allow_insecure_http',
  'cookie_name',
  'requests_per_minute',
  'trusted_proxies',
  'agents',
  'agent_days',
]

const requestsPerMinuteDefault = 120
const agentDaysDefault = 7

/**
 * Parses the configuration of sign-in; `undefined` if `"enabled": false` switches it off.
 *
 * @throws {ExtensionConfigError} for the first invalid member
 */
export function parseSettings(config: ExtensionConfig): ParsedSettings | undefined {
  const { client_secret: secret } = config.values
  const fields = new ConfigFields(config, {
    names: ['client_id', 'client_secret'],
    texts: typeof secret === 'string' && secret !== '' ? [secret] : [],
  })
  if (fields.read('enabled', writtenFlag) === false) return undefined
  fields.refuseOthers(memberNames)
  refusePlaceholders(fields)
  const allowsInsecureHttp = fields.read('allow_insecure_http', writtenFlag) ?? false
  const provider = readProvider(fields, allowsInsecureHttp)
  const clientAndRedirect = readClient(fields)
  const userFields = readUserFields(fields, provider)
  const hasCaselessNames = provider.hasCaselessNames && userFields.username === provider.userFields.username
  const restrictTo = readRestriction(fields, hasCaselessNames)
  const note = fields.text('sign_in_note', noteRule)
  const icon = fields.text('icon', iconRule)
  const settings: Settings = {
    ...clientAndRedirect,
    endpoints: provider.endpoints,
    scope: readScope(fields, provider),
    tokenAuthMethod:
      fields.read('token_auth_method', wordShape(['client_secret_post', 'client_secret_basic'])) ??
      'client_secret_post',
    hasPkce: fields.read('pkce', writtenFlag) ?? true,
    userFields,
    displayName: fields.text('display_name', displayNameRule) ?? provider.displayName,
    ...(note === undefined ? {} : { note }),
    ...(icon === undefined ? {} : { icon }),
    hasCaselessNames,
    ...(restrictTo === undefined ? {} : { restrictTo }),
    allowsInsecureHttp,
    cookieName: readCookieName(fields, clientAndRedirect.redirectUri),
    requestsPerMinute: fields.read('requests_per_minute', writtenInteger(0, 1_000_000)) ?? requestsPerMinuteDefault,
    trustedProxies: readTrustedProxies(fields),
    ...readAgents(fields),
  }
  return { settings, warnings: warningsOf(fields, settings, restrictTo?.isEmpty ?? false) }
}

function readAgents(fields: ConfigFields): Pick<Settings, 'hasAgents' | 'agentDays'> {
  return {
    hasAgents: fields.read('agents', writtenFlag) ?? false,
    agentDays: fields.read('agent_days', writtenInteger(1, familyDaysMax)) ?? agentDaysDefault,
  }
}

const placeholders = ['PROVIDER_CLIENT_ID', 'PROVIDER_CLIENT_SECRET', 'PROVIDER_USERS']

/** Refuses variable names without `$`: they would be sent to the identity provider, or allow a user of that name. */
function refusePlaceholders(fields: ConfigFields): void {
  for (const name of ['client_id', 'client_secret', 'restrict_to']) {
    const placeholder = fields
      .read(name, textsShape(name === 'restrict_to' ? restrictionAllowed : credentialRule.allowed))
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
  allowed: 'the value from the identity provider: visible characters, or "$NAME" of a variable that holds it',
  pattern: /^(?:[\u0021-\u007e](?:[\u0020-\u007e]*[\u0021-\u007e])?)?$/,
  lengthMax: 4096,
}

const redirectRule: TextRule = {
  allowed:
    'an http or https URL with exactly the path /auth/provider/callback, without user name, query or fragment, ' +
    'such as "https://chat.example.org/auth/provider/callback"',
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
  allowed: 'scopes separated by spaces',
  pattern: /^[\u0021\u0023-\u005b\u005d-\u007e ]*$/,
  lengthMax: 1024,
}

function readScope(fields: ConfigFields, { scope, endpoints }: ChosenProvider): string {
  const scopes = (fields.text('scope', scopeRule) ?? scope).split(' ').filter((each) => each !== '')
  if (endpoints.kind === 'openid' && !scopes.includes('openid'))
    fields.refuse('scope', 'scopes separated by spaces, "openid" among them')
  return scopes.join(' ')
}

const memberRule: TextRule = { allowed: 'the name of a member', pattern: /^[^\u0000-\u001f\u007f]+$/, lengthMax: 128 }
const optionalMemberRule: TextRule = {
  allowed: 'the name of a member, or "" for none',
  pattern: /^[^\u0000-\u001f\u007f]*$/,
  lengthMax: 128,
}

function readUserFields(fields: ConfigFields, { userFields, neverIdentifying }: ChosenProvider): UserFields {
  const variable = fields.unset('user_fields')
  if (variable !== undefined)
    fields.refuse('user_fields', 'a variable that is set, or this member left out', `$${variable}, which is not set`)
  const members = fields.object('user_fields')
  if (members === undefined) return userFields
  members.refuseOthers(['id', 'username', 'display_name', 'avatar', 'email'])
  const identifying = (name: 'id' | 'username'): string => {
    const member = members.text(name, memberRule) ?? userFields[name]
    if (!neverIdentifying.includes(member)) return member
    return members.refuse(name, `a member that users cannot set freely, such as "${userFields[name]}"`)
  }
  return {
    id: identifying('id'),
    username: identifying('username'),
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

const noteRule = oneLine(200)

/** No other address: the page would ask a third party for it. */
const iconRule: TextRule = {
  allowed: 'an image as a data: URL, such as data:image/svg+xml;base64,…, of at most 16384 characters',
  pattern: /^data:image\/(?:svg\+xml|png|webp);base64,[A-Za-z0-9+/]+={0,2}$/,
  lengthMax: 16_384,
}

const restrictionAllowed = 'user names in one text, separated by commas or blanks, or in an array of texts'

function readRestriction(fields: ConfigFields, isCaseless: boolean): ReturnType<typeof parseAllowList> | undefined {
  const texts = fields.read('restrict_to', textsShape(restrictionAllowed))
  // An empty text means no restriction, as an empty variable does; an empty array allows no user.
  return texts === undefined || fields.valueOf('restrict_to') === ''
    ? undefined
    : parseAllowList(Array.isArray(fields.valueOf('restrict_to')) ? texts : texts.join(' '), isCaseless)
}

/** RFC 6265 section 4.1.1. `svc_flow_` is the prefix of flow cookies. */
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

const networksAllowed = 'IP addresses or networks such as "10.0.0.0/8", in an array or separated by commas or spaces'

function readTrustedProxies(fields: ConfigFields): readonly string[] {
  const entries = (fields.read('trusted_proxies', textsShape(networksAllowed)) ?? [])
    .flatMap((text) => text.split(/[,\s]+/))
    .filter((entry) => entry !== '')
  const faulty = entries.find((entry) => parseNetwork(entry) === undefined)
  return faulty === undefined
    ? entries
    : fields.refuse('trusted_proxies', networksAllowed, `${fields.shown(faulty)} in the list`)
}

function warningsOf(
  fields: ConfigFields,
  { client, redirectUri, restrictTo, displayName, allowsInsecureHttp, trustedProxies }: Settings,
  isEmptyList: boolean,
): readonly string[] {
  const users = fields.unset('restrict_to')
  const redirect = redirectUri === undefined ? undefined : new URL(redirectUri)
  return [
    ...(client === undefined ? ['client_id', 'client_secret'] : [])
      .filter((name) => !fields.has(name) || fields.valueOf(name) === '')
      .map((name) => `Provider OAuth not configured, all sign-ins fail: ${absence(fields, name)}`),
    ...(restrictTo !== undefined
      ? []
      : [`anyone with an account at ${displayName} may sign in: ${absence(fields, 'restrict_to')}`]),
    ...(isEmptyList ? ['no user may sign in: restrict_to contains no name'] : []),
    ...(restrictTo !== undefined && users !== undefined
      ? [`restrict_to lacks the users of $${users}, which is not set`]
      : []),
    ...(redirect?.protocol === 'http:' && !isLoopbackHost(redirect.hostname)
      ? ['sessions are sent unencrypted: redirect_uri is http and not a loopback address']
      : []),
    ...(allowsInsecureHttp
      ? ['responses of the identity provider can be read and changed on the network: allow_insecure_http is true']
      : []),
    ...(trustedProxies.some((network) => /\/0+$/.test(network))
      ? ['any client can claim any address: trusted_proxies contains a network of all addresses']
      : []),
    ...optionalNames
      .filter((name) => fields.unset(name) !== undefined && !fields.has(name))
      .map((name) => `${name} has its default value: $${fields.unset(name)} is not set`),
  ]
}

/** Members with a safe default. */
const optionalNames = [
  'enabled',
  'scope',
  'token_auth_method',
  'pkce',
  'display_name',
  'sign_in_note',
  'icon',
  'allow_insecure_http',
  'cookie_name',
  'requests_per_minute',
  'trusted_proxies',
  'agents',
  'agent_days',
]

function absence(fields: ConfigFields, name: string): string {
  const variable = fields.unset(name)
  if (variable !== undefined) return `${name} is $${variable}, which is not set`
  return fields.has(name) ? `${name} is empty` : `${name} is missing`
}
