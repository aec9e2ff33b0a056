/** Secrets of one sign-in, stored from its start to its callback. */
export interface FlowSecrets {
  /** PKCE code verifier (RFC 7636), 43 characters. Absent if PKCE is off. */
  readonly codeVerifier?: string
  /** OpenID Connect only. */
  readonly nonce?: string
}

/** A user as described by the identity provider. Strings are well-formed and have no control characters. */
export interface Identity {
  /** Never empty. */
  readonly userId: string
  /** Never empty. Compared with `restrict_to`. */
  readonly userName: string
  /** The user name if the provider sends no display name. */
  readonly displayName: string
  /** Picture: an `http:` or `https:` URL, or empty. The service never fetches it. */
  readonly profileUrl: string
  /** May be empty. */
  readonly email: string
}

/** Well-formed parameters of a callback. */
export interface CallbackParameters {
  readonly state: string
  readonly code?: string
  readonly iss?: string
  readonly error?: string
}

/** The steps of the authorization-code flow (RFC 6749 section 4.1) that depend on the identity provider. */
export interface IdentityProvider {
  /** Shown on the sign-in button, such as `GitHub`. */
  readonly displayName: string
  /**
   * Builds the URL to redirect the browser to, and the secrets to store until the callback. Uses no data of the
   * request.
   *
   * @param asksWho the person may choose another account there
   * @throws {WireError} 500 `oauth_not_configured`, 502 or 504 `identity_provider_unavailable` (discovery)
   */
  begin(state: string, asksWho?: boolean): Promise<{ readonly url: string; readonly secrets: FlowSecrets }>
  /**
   * Identifies the user of a callback whose state has been redeemed. Checks `iss` and `error`, exchanges the code for
   * an access token and requests the user. The access token is not kept.
   *
   * @throws {WireError} 403 `access_denied`, 400, 500, 502 or 504 as listed in docs/errors.md
   */
  identify(callback: CallbackParameters, secrets: FlowSecrets): Promise<Identity>
  /**
   * Finds out whether the identity provider answers and takes the client's credentials, by a code that was not given to
   * anyone.
   *
   * @throws {WireError} 400 in words for the owner
   */
  probe(): Promise<void>
}
