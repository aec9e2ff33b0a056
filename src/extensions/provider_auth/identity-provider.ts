/** What one sign-in keeps between its start and its callback, beside the state token itself. */
export interface FlowSecrets {
  /** PKCE code verifier (RFC 7636), 43 characters. Absent when PKCE is switched off. */
  readonly codeVerifier?: string
  /** OpenID Connect only. */
  readonly nonce?: string
}

/** A person, as the identity provider describes them. Every text is well-formed and has no control characters. */
export interface Identity {
  /** Never empty. */
  readonly userId: string
  /** Never empty. What `restrict_to` is compared with. */
  readonly userName: string
  /** The user name where the provider tells none. */
  readonly displayName: string
  /** An `http:` or `https:` URL, or empty. It is never fetched. */
  readonly profileUrl: string
  /** May be empty. */
  readonly email: string
}

/** A callback's parameters, after they were checked for form: each occurs at most once. */
export interface CallbackParameters {
  readonly state: string
  readonly code?: string
  readonly iss?: string
  readonly error?: string
}

/** The two steps of the authorization-code flow (RFC 6749 section 4.1) that involve somebody else. */
export interface IdentityProvider {
  /** For the button: `GitHub`. */
  readonly displayName: string
  /**
   * Where to send the browser, and what to keep for its return. Made from the configuration alone.
   *
   * @throws {WireError} 500 `oauth_not_configured`, 502 or 504 `identity_provider_unavailable` (discovery)
   */
  begin(state: string): Promise<{ readonly url: string; readonly secrets: FlowSecrets }>
  /**
   * Turns a callback, whose state has been checked and used up, into a person: `iss`, `error`, code → access token →
   * user. The access token is forgotten.
   *
   * @throws {WireError} 403 `access_denied`, 400, 500, 502 or 504 as docs/sign-in.md lists them
   */
  identify(callback: CallbackParameters, secrets: FlowSecrets): Promise<Identity>
}
