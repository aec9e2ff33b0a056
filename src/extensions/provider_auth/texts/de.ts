import type { Texts } from './en.ts'

/** Texts of page-part.tsx in German. */
export const de: Texts = {
  agents: 'Ihre Agenten',
  signInWith: (name) => `Mit ${name} anmelden`,
  signOut: 'Abmelden',
  signOutEverywhere: 'Überall abmelden',
  noneEnded:
    'Ihre Sitzung hier war schon beendet, deshalb wurde keine andere beendet. Melden Sie sich wieder an und dann ' +
    'überall ab.',
  unreachableStillIn:
    'Der Dienst ist nicht erreichbar, Sie sind also noch angemeldet. Versuchen Sie es gleich noch einmal.',
  answeredStillIn: (status) =>
    `Der Dienst antwortete mit ${status}, Sie sind also noch angemeldet. Versuchen Sie es gleich noch einmal.`,
}
