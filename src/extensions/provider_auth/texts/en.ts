/** Texts of page-part.tsx in English. As in web/texts/en.ts, functions use their parameters only. */
export const en = {
  signInWith: (name: string) => `Sign in with ${name}`,
  signOut: 'Sign Out',
  signOutEverywhere: 'Sign Out Everywhere',
  endSessions: 'End Someone’s Sessions…',
  endSessionsField: 'User name',
  endSessionsHint: 'Or id:VALUE for a user id. Sessions of this person end in all browsers, devices and programs.',
  endSessionsButton: 'End sessions',
  noneEnded: 'Your session here had already ended, so no other was ended. Sign in again, then sign out everywhere.',
  unreachableStillIn: 'The service cannot be reached, so you are still signed in. Try again in a moment.',
  answeredStillIn: (status: string) =>
    `The service answered with ${status}, so you are still signed in. Try again in a moment.`,
  unreachable: 'The service cannot be reached. Try again in a moment.',
  enterName: 'Enter a user name or id:VALUE.',
  onlyOwners: 'Only owners of this service may do this.',
  answered: (status: string) => `The service answered with ${status}. Try again in a moment.`,
  noSession: (user: string) => `${user} has no session.`,
  oneEnded: '1 session ended.',
  manyEnded: (count: string) => `${count} sessions ended.`,
}

/** The texts of a language. */
export type Texts = typeof en
