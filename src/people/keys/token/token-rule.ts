import type { JsonObject } from '../../../base/json-value.ts'

/** The tokens (RFC 7519) that prove a key of access.json. */
export interface TokenRule {
  /** `iss`, exactly. */
  readonly issuer: string
  /** One of them is in `aud`. */
  readonly audiences: readonly string[]
  /** For each claim the values that it may have. One that ends in `*` stands for all that begin so. */
  readonly claims: readonly (readonly [name: string, values: readonly string[]])[]
  /** A file with the keys of the issuer. Absent: they are found at its address. */
  readonly jwksFile?: string
}

/** GitHub Actions: the claims of its tokens name the owner before the first slash. */
export const githubIssuer = 'https://token.actions.githubusercontent.com'

/** Claims that name one program or account, or its owner. Each of the others many programs of an issuer may have. */
export const namingClaims: ReadonlySet<string> = new Set([
  ...['sub', 'email', 'azp', 'client_id', 'appid', 'oid'],
  ...['repository', 'repository_id', 'repository_owner', 'repository_owner_id', 'job_workflow_ref'],
  ...['project_id', 'project_path', 'namespace_id', 'namespace_path'],
])

/** Whether a rule accepts the claims of a token whose signature and times are right. */
export function isAccepted({ audiences, claims }: TokenRule, token: JsonObject): boolean {
  const sentTo = textsOf(token['aud'])
  return (
    audiences.some((audience) => sentTo.includes(audience)) &&
    claims.every(([name, values]) => textsOf(token[name]).some((text) => values.some((value) => fits(value, text)))) &&
    // Some issuers let users write any address.
    (token['email_verified'] !== false || claims.every(([name]) => name !== 'email'))
  )
}

/** A claim may be a list: one of its values is enough. Numbers and truths count by their text. */
function textsOf(claim: unknown): readonly string[] {
  const values: readonly unknown[] = Array.isArray(claim) ? claim : [claim]
  return values.flatMap((value) => {
    if (typeof value === 'string') return [value]
    return typeof value === 'number' || typeof value === 'boolean' ? [String(value)] : []
  })
}

function fits(value: string, text: string): boolean {
  return value.endsWith('*') ? text.startsWith(value.slice(0, -1)) : text === value
}
