import type { TextRule } from '../../../base/text-rule.ts'
import { wordShape } from '../../../shapes/shape.ts'
import type { ConfigFields } from '../settings/config-fields.ts'
import { oauthFields, openidFields, presetNames, presets, type Preset, type PresetName } from '../settings/presets.ts'
import type { Endpoints, UserFields } from '../settings/settings.ts'
import { isAllowedUrl } from './provider-url.ts'

/** The configured identity provider, with the defaults of its kind. */
export interface ChosenProvider {
  readonly endpoints: Endpoints
  readonly scope: string
  readonly userFields: UserFields
  readonly displayName: string
  /** Whether user names in the member `userFields.username` ignore the case of ASCII letters. */
  readonly hasCaselessNames: boolean
  /** Members that must not serve as user name. */
  readonly neverIdentifying: readonly string[]
}

const endpointNames = ['authorize_url', 'token_url', 'user_url'] as const

/**
 * Members that select the identity provider. An unset variable here is an error: its default would be another provider.
 */
const selectingNames = ['provider', 'base_url', 'tenant', 'issuer', ...endpointNames] as const

const tenantRule: TextRule = {
  allowed: 'a directory (tenant) id or domain, "organizations", "common" or "consumers"',
  pattern: /^[A-Za-z0-9][A-Za-z0-9.-]*$/,
  lengthMax: 128,
}

/**
 * Reads the identity provider (docs/sign-in.md): `provider`, or `issuer`, or three URLs. @throws {ExtensionConfigError}
 */
export function readProvider(fields: ConfigFields, allowsInsecureHttp: boolean): ChosenProvider {
  for (const name of selectingNames)
    if (fields.unset(name) !== undefined) fields.refuse(name, 'a variable that is set, or this member left out')
  const readUrl = (name: string, extra?: string): string | undefined =>
    readProviderUrl(fields, name, allowsInsecureHttp, extra)
  if (fields.has('issuer')) {
    refuseTogether(
      fields,
      'issuer',
      selectingNames.filter((name) => name !== 'issuer'),
    )
    return openidProvider(fields, readUrl('issuer') ?? '')
  }
  if (endpointNames.some((name) => fields.has(name))) {
    refuseTogether(fields, 'authorize_url, token_url and user_url', ['provider', 'base_url', 'tenant'])
    const [authorizeUrl, tokenUrl, userUrl] = endpointNames.map(
      (name) => readUrl(name, '?') ?? fields.refuse(name, `a URL: ${endpointNames.join(', ')} must be set together`),
    )
    return oauthProvider(authorizeUrl ?? '', tokenUrl ?? '', userUrl ?? '')
  }
  const name = fields.read('provider', wordShape(presetNames)) ?? 'github'
  return presetProvider(fields, name, presets[name], readUrl('base_url'))
}

function refuseTogether(fields: ConfigFields, given: string, others: readonly string[]): void {
  const other = others.find((name) => fields.has(name))
  if (other !== undefined)
    fields.refuse(
      other,
      'only one of: provider, issuer, or authorize_url with token_url and user_url',
      `this member together with ${given}`,
    )
}

function openidProvider(fields: ConfigFields, issuer: string): ChosenProvider {
  if (issuer.includes('/.well-known/'))
    fields.refuse('issuer', 'the issuer without "/.well-known/" and the rest of the path')
  return {
    endpoints: { kind: 'openid', issuer },
    scope: 'openid profile email',
    userFields: openidFields,
    displayName: new URL(issuer).host,
    hasCaselessNames: false,
    neverIdentifying: [],
  }
}

function oauthProvider(authorizeUrl: string, tokenUrl: string, userUrl: string): ChosenProvider {
  return {
    endpoints: { kind: 'oauth', authorizeUrl, tokenUrl, userUrl },
    scope: '',
    userFields: oauthFields,
    displayName: new URL(authorizeUrl).host,
    hasCaselessNames: false,
    neverIdentifying: [],
  }
}

function presetProvider(
  fields: ConfigFields,
  name: PresetName,
  { endpoints, endpointsAt, endpointsAtHosts, ...preset }: Preset,
  baseUrl: string | undefined,
): ChosenProvider {
  if (baseUrl !== undefined && endpointsAt === undefined)
    fields.refuse('base_url', 'only with "provider": "github", "gitlab" or "gitea"')
  if (preset.tenant === undefined && fields.has('tenant')) fields.refuse('tenant', 'only with "provider": "microsoft"')
  const tenant = fields.text('tenant', tenantRule) ?? preset.tenant ?? ''
  const host = baseUrl === undefined ? '' : new URL(baseUrl).hostname
  const template = baseUrl === undefined ? endpoints : serverEndpoints(endpointsAt, endpointsAtHosts, host)
  if (template === undefined)
    return fields.refuse(
      'base_url',
      `the URL of your server, such as "https://git.example.org": ${name} has no public service`,
    )
  const base = baseUrl?.replace(/\/+$/, '') ?? ''
  const filled = fillIn(template, (url) =>
    url
      .replace('{base}', () => base)
      .replace('{host}', () => host)
      .replace('{tenant}', () => tenant),
  )
  const { scope, userFields, displayName, hasCaselessNames = false, neverIdentifying = [] } = preset
  return { endpoints: filled, scope, userFields, displayName, hasCaselessNames, neverIdentifying }
}

/** The endpoints of a server with this host. */
function serverEndpoints(
  usual: Endpoints | undefined,
  atHosts: Preset['endpointsAtHosts'],
  host: string,
): Endpoints | undefined {
  return atHosts?.host.test(host) === true ? atHosts.endpoints : usual
}

function fillIn(endpoints: Endpoints, fill: (url: string) => string): Endpoints {
  if (endpoints.kind === 'openid') return { kind: 'openid', issuer: fill(endpoints.issuer) }
  const { authorizeUrl, tokenUrl, userUrl, emailsUrl, issuer } = endpoints
  return {
    kind: 'oauth',
    authorizeUrl: fill(authorizeUrl),
    tokenUrl: fill(tokenUrl),
    userUrl: fill(userUrl),
    ...(emailsUrl === undefined ? {} : { emailsUrl: fill(emailsUrl) }),
    ...(issuer === undefined ? {} : { issuer: fill(issuer) }),
  }
}

const urlLengthMax = 2048

/** Reads a URL of an identity provider. @param extra `?` to allow a query (RFC 6749 section 3.1) */
function readProviderUrl(
  fields: ConfigFields,
  name: string,
  allowsInsecureHttp: boolean,
  extra = '',
): string | undefined {
  const query = extra === '?' ? '(?:\\?[^\\s#\\\\]*)?' : ''
  const text = fields.text(name, {
    allowed: `an https URL without user name, ${extra === '?' ? '' : 'query '}or fragment`,
    pattern: new RegExp(`^https?://[^\\s/?#\\\\@]+(?:/[^\\s?#\\\\]*)?${query}$`),
    lengthMax: urlLengthMax,
  })
  if (text === undefined) return undefined
  const url = URL.parse(text)
  if (url === null) return fields.refuse(name, 'an https URL')
  if (!isAllowedUrl(url, allowsInsecureHttp))
    fields.refuse(name, 'an https URL; http only for loopback addresses, or with "allow_insecure_http": true')
  return text
}
