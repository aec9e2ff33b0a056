import type { Texts } from './en.ts'

/** Texts of page-part.tsx in German. */
export const de: Texts = {
  signInWith: (name) => `Mit ${name} anmelden`,
  signOut: 'Abmelden',
  signOutEverywhere: 'Überall abmelden',
  endSessions: 'Sitzungen einer Person beenden …',
  endSessionsField: 'Benutzername',
  endSessionsHint:
    'Oder id:WERT für eine Benutzerkennung. Die Sitzungen dieser Person enden in allen Browsern, Geräten und ' +
    'Programmen.',
  endSessionsButton: 'Sitzungen beenden',
  noneEnded:
    'Ihre Sitzung hier war schon beendet, deshalb wurde keine andere beendet. Melden Sie sich wieder an und dann ' +
    'überall ab.',
  unreachableStillIn:
    'Der Dienst ist nicht erreichbar, Sie sind also noch angemeldet. Versuchen Sie es gleich noch einmal.',
  answeredStillIn: (status) =>
    `Der Dienst antwortete mit ${status}, Sie sind also noch angemeldet. Versuchen Sie es gleich noch einmal.`,
  unreachable: 'Der Dienst ist nicht erreichbar. Versuchen Sie es gleich noch einmal.',
  enterName: 'Geben Sie einen Benutzernamen oder id:WERT ein.',
  onlyOwners: 'Das dürfen nur Betreiber dieses Dienstes.',
  answered: (status) => `Der Dienst antwortete mit ${status}. Versuchen Sie es gleich noch einmal.`,
  noSession: (user) => `${user} hat keine Sitzung.`,
  oneEnded: '1 Sitzung wurde beendet.',
  manyEnded: (count) => `${count} Sitzungen wurden beendet.`,
}
