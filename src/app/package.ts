import manifest from '../../package.json' with { type: 'json' }

/** The command name: `svc`, or `npm run svc --` when npm started this process. */
export function programName(environment: Readonly<Record<string, string | undefined>>): string {
  return environment['npm_lifecycle_event'] === undefined ? 'svc' : 'npm run svc --'
}

/** `version` of package.json. */
export function packageVersion(): string {
  return manifest.version
}
