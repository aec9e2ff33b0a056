import type { TargetProfile } from './profile.ts'
import { anyTarget } from './resolve-profile.ts'

/** A target of tests: it deviates in these fields only. */
export function targetWith(profile: Partial<TargetProfile> = {}): {
  readonly overrides: {}
  readonly profile: TargetProfile
} {
  return { overrides: {}, profile: { ...anyTarget, ...profile } }
}
