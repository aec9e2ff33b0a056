/** Texts of page-part.tsx in English. As in web/texts/en.ts, functions use their parameters only. */
export const en = {
  agents: 'Your Agents',
  signInWith: (name: string) => `Sign in with ${name}`,
  signOut: 'Sign Out',
  signOutEverywhere: 'Sign Out Everywhere',
  noneEnded: 'Your session here had already ended, so no other was ended. Sign in again, then sign out everywhere.',
  unreachableStillIn: 'The service cannot be reached, so you are still signed in. Try again in a moment.',
  answeredStillIn: (status: string) =>
    `The service answered with ${status}, so you are still signed in. Try again in a moment.`,
}

/** The texts of a language. */
export type Texts = typeof en
