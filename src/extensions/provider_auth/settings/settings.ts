/** Names of the members, or claims, that hold each user attribute. Other members are never read. */
export interface UserFields {
  readonly id: string
  readonly username: string
  readonly displayName: string
  readonly avatar: string
  readonly email: string
}

/** Endpoints of an identity provider: configured URLs (RFC 6749), or an issuer for OpenID Connect Discovery. */
export type Endpoints =
  | {
      readonly kind: 'oauth'
      readonly authorizeUrl: string
      readonly tokenUrl: string
      readonly userUrl: string
      /** E-mail addresses of the user, requested if the profile has none (GitHub). */
      readonly emailsUrl?: string
      /** Compared with the callback's `iss`, if present (RFC 9207). Without an issuer, `iss` is ignored. */
      readonly issuer?: string
    }
  | { readonly kind: 'openid'; readonly issuer: string }

/** Parsed `config.json` (docs/sign-in.md). */
export interface Settings {
  /** Absent: sign-in is on, and every sign-in fails. */
  readonly client?: { readonly id: string; readonly secret: string }
  /**
   * Exactly as configured: an absolute http or https URL with the path `/auth/provider/callback`. Present if `client`
   * is.
   */
  readonly redirectUri?: string
  readonly endpoints: Endpoints
  /** Separated by spaces; may be empty. */
  readonly scope: string
  readonly tokenAuthMethod: 'client_secret_post' | 'client_secret_basic'
  readonly hasPkce: boolean
  readonly userFields: UserFields
  readonly displayName: string
  /** Plain text on the sign-in page, such as who may enter. */
  readonly note?: string
  /** The icon on the button: a `data:` URL of an image. */
  readonly icon?: string
  /** Whether user names of this provider ignore the case of ASCII letters. */
  readonly hasCaselessNames: boolean
  /** Users who may sign in; absent: all users of the identity provider. */
  readonly restrictTo?: AllowList
  /** Whether plain http to an identity provider on another machine is allowed. */
  readonly allowsInsecureHttp: boolean
  /** Default `token`. */
  readonly cookieName: string
  /** Requests to `/auth…` per client and minute; 0: unlimited. */
  readonly requestsPerMinute: number
  /** Whether agents may sign in (docs/agents.md). */
  readonly hasAgents: boolean
  /** Days that an agent stays signed in. */
  readonly agentDays: number
  /** Networks whose `X-Forwarded-For` is trusted, in CIDR form or as single addresses. */
  readonly trustedProxies: readonly string[]
}

/** Users who may sign in. */
export interface AllowList {
  allows(identity: { readonly userId: string; readonly userName: string }): boolean
}
