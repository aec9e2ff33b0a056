import { isAppOrigin } from '../http/origin-policy.ts'
import { UsageError } from './start-errors.ts'

/**
 * `SVC_CORS_ORIGINS`: origins, separated by commas or spaces, whose pages may call the API; `*` stands for all.
 *
 * @throws {UsageError} for an entry that is not an origin
 */
export function readCorsOrigins(environment: Readonly<Record<string, string | undefined>>): readonly string[] {
  const origins = (environment['SVC_CORS_ORIGINS'] ?? '').split(/[,\s]+/).filter((origin) => origin !== '')
  const faulty = origins.findIndex((origin) => origin !== '*' && !isAppOrigin(origin) && !isWebOrigin(origin))
  if (faulty !== -1)
    throw new UsageError(
      `SVC_CORS_ORIGINS: entry ${faulty + 1} is not an origin such as https://app.example.org (lower case, no path)`,
    )
  return origins
}

function isWebOrigin(origin: string): boolean {
  return /^https?:\/\/[^*]*$/.test(origin) && URL.canParse(origin) && new URL(origin).origin === origin
}
