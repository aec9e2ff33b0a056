import { UsageError } from './arguments.ts'

/**
 * `SVC_CORS_ORIGINS`: origins, separated by commas or spaces, whose pages may call the API while sign-in is on.
 *
 * @throws {UsageError} for what is no origin
 */
export function readCorsOrigins(environment: Readonly<Record<string, string | undefined>>): readonly string[] {
  const origins = (environment['SVC_CORS_ORIGINS'] ?? '').split(/[,\s]+/).filter((origin) => origin !== '')
  const faulty = origins.findIndex(
    (origin) => !/^https?:\/\/[^*]*$/.test(origin) || !URL.canParse(origin) || new URL(origin).origin !== origin,
  )
  if (faulty !== -1)
    throw new UsageError(
      `SVC_CORS_ORIGINS: the ${faulty + 1}. entry is no origin such as https://app.example.org (without a path, and in lower case)`,
    )
  return origins
}
