import type { Endpoints, UserFields } from './settings.ts'

/** Endpoints and defaults of a well-known identity provider. */
export interface Preset {
  /** Shown on the sign-in button. */
  readonly displayName: string
  /** The smallest scope for id, user name and e-mail address. */
  readonly scope: string
  readonly userFields: UserFields
  /** Endpoints of the public service; `{tenant}` is replaced by `tenant`. Absent: `base_url` is required. */
  readonly endpoints?: Endpoints
  /** Endpoints of a self-hosted server; `{base}` is replaced by `base_url`. Absent: `base_url` is not allowed. */
  readonly endpointsAt?: Endpoints
  /** Endpoints of servers with such a host, instead of those of `endpointsAt`; `{host}` is replaced. */
  readonly endpointsAtHosts?: { readonly host: RegExp; readonly endpoints: Endpoints }
  /** Default of `tenant`. Absent: `tenant` is not allowed. */
  readonly tenant?: string
  /** Whether user names ignore the case of ASCII letters. */
  readonly hasCaselessNames?: boolean
  /** Members that must not serve as id or user name, because users or owners of other tenants can set them freely. */
  readonly neverIdentifying?: readonly string[]
}

/** Standard claims (OpenID Connect Core 1.0 section 5.1). */
export const openidFields: UserFields = {
  id: 'sub',
  username: 'preferred_username',
  displayName: 'name',
  avatar: 'picture',
  email: 'email',
}

/** Member names of GitHub and many other OAuth 2.0 servers; there is no standard. */
export const oauthFields: UserFields = {
  id: 'id',
  username: 'login',
  displayName: 'name',
  avatar: 'avatar_url',
  email: 'email',
}

/**
 * URLs and scopes: docs.github.com/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps. Callbacks carry the
 * issuer since April 2026 (docs.github.com/apps/github-authentication-discovery-endpoints); Enterprise servers send a
 * wrong one, so it is not checked there. E-mail addresses need `user:email` (docs.github.com/rest/users/emails). The
 * API of Enterprise servers is at `/api/v3` (docs.github.com/enterprise-server/rest).
 */
const github: Preset = {
  displayName: 'GitHub',
  scope: 'read:user user:email',
  userFields: oauthFields,
  hasCaselessNames: true,
  neverIdentifying: ['name'],
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
  // Enterprise Cloud with data residency (docs.github.com/enterprise-cloud@latest/admin/data-residency).
  endpointsAtHosts: {
    host: /^[a-z0-9-]+\.ghe\.com$/i,
    endpoints: {
      kind: 'oauth',
      authorizeUrl: '{base}/login/oauth/authorize',
      tokenUrl: '{base}/login/oauth/access_token',
      userUrl: 'https://api.{host}/user',
      emailsUrl: 'https://api.{host}/user/emails',
    },
  },
}

/**
 * docs.gitlab.com/integration/openid_connect_provider: the issuer is the server's URL, `preferred_username` the user
 * name (formerly `nickname`: gitlab-org/gitlab merge request 107720). In GitLab's
 * config/initializers/doorkeeper_openid_connect.rb, scope `openid` gives all claims except the primary e-mail address,
 * which needs `email`; `profile` adds nothing.
 */
const gitlab: Preset = {
  displayName: 'GitLab',
  scope: 'openid email',
  userFields: openidFields,
  hasCaselessNames: true,
  neverIdentifying: ['name'],
  endpoints: { kind: 'openid', issuer: 'https://gitlab.com' },
  endpointsAt: { kind: 'openid', issuer: '{base}' },
}

/**
 * developers.google.com/identity/openid-connect/reference: the issuer. Google has no user names; the verified e-mail
 * address serves as one (only with `email_verified`: see user-info.ts). `name` and `picture` need `profile`.
 */
const google: Preset = {
  displayName: 'Google',
  scope: 'openid email profile',
  userFields: { ...openidFields, username: 'email' },
  neverIdentifying: ['name', 'given_name', 'family_name'],
  endpoints: { kind: 'openid', issuer: 'https://accounts.google.com' },
}

/**
 * learn.microsoft.com/entra/identity-platform/v2-oauth2-auth-code-flow: URLs, tenants. The user comes from Microsoft
 * Graph (learn.microsoft.com/graph/api/user-get, scope `User.Read`), not from an id_token: the issuer differs per
 * tenant, and `email` and `preferred_username` must not be used for authorization (id-token-claims-reference). Owners
 * of a tenant can set `email` to any address ("nOAuth"). The domain of `userPrincipalName` is verified by its tenant
 * (learn.microsoft.com/graph/api/resources/user), and only administrators change it; `id` is never reused. The default
 * tenant admits work and school accounts of all organisations. It excludes personal accounts, whose `userPrincipalName`
 * may be an address at a domain of another tenant. Graph has no URL for pictures.
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
  neverIdentifying: ['mail', 'email', 'displayName', 'givenName', 'surname', 'preferred_username', 'mobilePhone'],
}

/**
 * docs.gitea.com/development/oauth2-provider; Forgejo is the same. Plain OAuth 2.0, because the id_token of older
 * versions lacks `iat`, which OpenID Connect Core 1.0 section 2 requires (services/oauth2_provider/access_token.go),
 * and the issuer may or may not end in a slash. The scope is `read:user`: scopes of OpenID Connect alone would give a
 * token with all permissions (GrantAdditionalScopes in the same file). Gitea before 1.23 and Forgejo have no scopes,
 * and always give such a token.
 */
const gitea: Preset = {
  displayName: 'Gitea',
  scope: 'read:user',
  userFields: { id: 'id', username: 'login', displayName: 'full_name', avatar: 'avatar_url', email: 'email' },
  hasCaselessNames: true,
  neverIdentifying: ['full_name'],
  endpointsAt: {
    kind: 'oauth',
    authorizeUrl: '{base}/login/oauth/authorize',
    tokenUrl: '{base}/login/oauth/access_token',
    userUrl: '{base}/api/v1/user',
  },
}

/** Presets by the value of `provider`. */
export const presets = { github, gitlab, google, microsoft, gitea } as const satisfies Readonly<Record<string, Preset>>

/** A value of `provider`. */
export type PresetName = keyof typeof presets

/** All values of `provider`, the default first. */
export const presetNames: readonly PresetName[] = ['github', 'gitlab', 'google', 'microsoft', 'gitea']
