/**
 * Which members of the user endpoint's answer, or which claims, hold what. Exactly these are read: nothing is guessed
 * from others.
 */
export interface UserFields {
  readonly id: string
  readonly username: string
  readonly displayName: string
  readonly avatar: string
  readonly email: string
}

/**
 * Where a person is sent and asked about: addresses that are known (RFC 6749), or an issuer that tells them (OpenID
 * Connect Discovery).
 */
export type Endpoints =
  | {
      readonly kind: 'oauth'
      readonly authorizeUrl: string
      readonly tokenUrl: string
      readonly userUrl: string
      /** A list of addresses, asked when the profile hides its own (GitHub). */
      readonly emailsUrl?: string
      /** Compared with the callback's `iss` where one comes (RFC 9207); without it, `iss` is ignored. */
      readonly issuer?: string
    }
  | { readonly kind: 'openid'; readonly issuer: string }

/** `config.json`, understood (docs/sign-in.md). */
export interface Settings {
  /** Absent: sign-in is on, and refuses everybody. */
  readonly client?: { readonly id: string; readonly secret: string }
  /**
   * Exactly as configured: an absolute http or https URL whose path is `/auth/provider/callback`. There whenever
   * `client` is.
   */
  readonly redirectUri?: string
  readonly endpoints: Endpoints
  /** Separated by blanks; may be empty. */
  readonly scope: string
  readonly tokenAuthMethod: 'client_secret_post' | 'client_secret_basic'
  readonly hasPkce: boolean
  readonly userFields: UserFields
  readonly displayName: string
  /** Who may sign in; absent: everybody whom the identity provider knows. */
  readonly restrictTo?: AllowList
  /** Plain http to an identity provider that is not on this machine. */
  readonly allowsInsecureHttp: boolean
  /** `token` unless configured. */
  readonly cookieName: string
  /** Requests to `/auth…` a client and minute; 0: any number. */
  readonly requestsPerMinute: number
  /** Networks whose `X-Forwarded-For` is believed, in CIDR form or single addresses. */
  readonly trustedProxies: readonly string[]
}

/** Who may sign in. */
export interface AllowList {
  allows(identity: { readonly userId: string; readonly userName: string }): boolean
}
