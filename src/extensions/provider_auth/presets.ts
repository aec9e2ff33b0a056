import type { Endpoints, UserFields } from './settings.ts'

/** An identity provider that many know, so that its addresses and habits need not be written into each configuration. */
export interface Preset {
  /** For the button. */
  readonly displayName: string
  /** The least that tells id, user name and e-mail address. */
  readonly scope: string
  readonly userFields: UserFields
  /** Of the provider's own service; `{tenant}` stands for `tenant`. Absent: there is none, and `base_url` is required. */
  readonly endpoints?: Endpoints
  /** Of a server that somebody runs for themselves; `{base}` stands for `base_url`. Absent: there are none such. */
  readonly endpointsAt?: Endpoints
  /** What `tenant` is when it is not given. Absent: there are no tenants. */
  readonly tenant?: string
  /** Members that people, or the owners of other tenants, may set as they like: no user name is taken from them. */
  readonly neverUsername?: readonly string[]
}

/** What the claims are called that OpenID Connect Core 1.0 section 5.1 defines. */
export const openidFields: UserFields = {
  id: 'sub',
  username: 'preferred_username',
  displayName: 'name',
  avatar: 'picture',
  email: 'email',
}

/** What OAuth 2.0 servers without a standard for it mostly call them, as GitHub does. */
export const oauthFields: UserFields = {
  id: 'id',
  username: 'login',
  displayName: 'name',
  avatar: 'avatar_url',
  email: 'email',
}

/**
 * Addresses and scopes: docs.github.com/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps. The issuer, sent in
 * callbacks since April 2026: docs.github.com/apps/github-authentication-discovery-endpoints, which also says that
 * Enterprise servers tell a wrong one: none is expected of them. E-mail addresses need `user:email`
 * (docs.github.com/rest/users/emails). On an Enterprise server the API is at `/api/v3`
 * (docs.github.com/enterprise-server/rest).
 */
const github: Preset = {
  displayName: 'GitHub',
  scope: 'read:user user:email',
  userFields: oauthFields,
  neverUsername: ['name'],
  endpoints: {
    kind: 'oauth',
    authorizeUrl: 'https://github.com/login/oauth/authorize',
    tokenUrl: 'https://github.com/login/oauth/access_token',
    userUrl: 'https://api.github.com/user',
    emailsUrl: 'https://api.github.com/user/emails',
    issuer: 'https://github.com/login/oauth',
  },
  endpointsAt: {
    kind: 'oauth',
    authorizeUrl: '{base}/login/oauth/authorize',
    tokenUrl: '{base}/login/oauth/access_token',
    userUrl: '{base}/api/v3/user',
    emailsUrl: '{base}/api/v3/user/emails',
  },
}

/**
 * docs.gitlab.com/integration/openid_connect_provider: the issuer is the server's address, `preferred_username` the
 * user name (as `nickname` was before: gitlab-org/gitlab merge request 107720). GitLab's
 * config/initializers/doorkeeper_openid_connect.rb gives all claims for the scope `openid`, but the primary e-mail
 * address for `email` only: `profile` adds nothing.
 */
const gitlab: Preset = {
  displayName: 'GitLab',
  scope: 'openid email',
  userFields: openidFields,
  neverUsername: ['name'],
  endpoints: { kind: 'openid', issuer: 'https://gitlab.com' },
  endpointsAt: { kind: 'openid', issuer: '{base}' },
}

/**
 * developers.google.com/identity/openid-connect/reference: the issuer. There are no user names: an address that Google
 * has verified stands for one (it is taken only with `email_verified`: see user-info.ts); `name` and `picture` need
 * `profile`.
 */
const google: Preset = {
  displayName: 'Google',
  scope: 'openid email profile',
  userFields: { ...openidFields, username: 'email' },
  neverUsername: ['name', 'given_name', 'family_name'],
  endpoints: { kind: 'openid', issuer: 'https://accounts.google.com' },
}

/**
 * learn.microsoft.com/entra/identity-platform/v2-oauth2-auth-code-flow: addresses, tenants. Who it is tells Microsoft
 * Graph (learn.microsoft.com/graph/api/user-get, scope `User.Read`), not an id_token: its issuer is another for each
 * tenant, and its `email` and `preferred_username` are not for decisions (id-token-claims-reference; with `email`,
 * anybody can call themselves as they like in a tenant of their own: "nOAuth"). `userPrincipalName` is under a domain
 * that its tenant has proved to own (learn.microsoft.com/graph/api/resources/user), and only administrators change it;
 * `id` is never reused. Without a tenant, work and school accounts of every organisation may sign in, personal ones
 * not: their `userPrincipalName` may be an address at somebody else's domain. Graph has no avatar under a URL.
 */
const microsoft: Preset = {
  displayName: 'Microsoft',
  scope: 'User.Read',
  userFields: { id: 'id', username: 'userPrincipalName', displayName: 'displayName', avatar: '', email: 'mail' },
  endpoints: {
    kind: 'oauth',
    authorizeUrl: 'https://login.microsoftonline.com/{tenant}/oauth2/v2.0/authorize',
    tokenUrl: 'https://login.microsoftonline.com/{tenant}/oauth2/v2.0/token',
    userUrl: 'https://graph.microsoft.com/v1.0/me',
  },
  tenant: 'organizations',
  neverUsername: ['mail', 'email', 'displayName', 'givenName', 'surname', 'preferred_username', 'mobilePhone'],
}

/**
 * docs.gitea.com/development/oauth2-provider, and Forgejo's the same. Plain OAuth 2.0: their id_token has long had no
 * `iat`, which OpenID Connect Core 1.0 section 2 requires (services/oauth2_provider/access_token.go), and its issuer
 * ends in a slash or not. `read:user` is all that is asked for: the scopes of OpenID Connect alone would give a token
 * for everything (GrantAdditionalScopes in the same file). Gitea before 1.23 and Forgejo know no scopes, and give such
 * a token anyway.
 */
const gitea: Preset = {
  displayName: 'Gitea',
  scope: 'read:user',
  userFields: { id: 'id', username: 'login', displayName: 'full_name', avatar: 'avatar_url', email: 'email' },
  neverUsername: ['full_name'],
  endpointsAt: {
    kind: 'oauth',
    authorizeUrl: '{base}/login/oauth/authorize',
    tokenUrl: '{base}/login/oauth/access_token',
    userUrl: '{base}/api/v1/user',
  },
}

/** By the name that `provider` has in the configuration. */
export const presets = { github, gitlab, google, microsoft, gitea } as const satisfies Readonly<Record<string, Preset>>

/** A value of `provider`. */
export type PresetName = keyof typeof presets

/** All of them, the default first. */
export const presetNames: readonly PresetName[] = ['github', 'gitlab', 'google', 'microsoft', 'gitea']
