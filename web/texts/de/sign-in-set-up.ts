import type { Texts } from '../en.ts'

export const signInSetUp: Texts['signInSetUp'] = {
  about:
    'Noch meldet sich niemand an: Wer diese Seite erreicht, ist Besitzer. ' +
    'Lassen Sie Personen sich mit einem Konto anmelden, das sie schon haben.',
  callback: 'Rücksprungadresse',
  callbackAbout:
    'Registrieren Sie svc beim Anmeldedienst mit dieser Adresse. Er zeigt dann die Client-ID und das Geheimnis.',
  clientId: 'Client-ID',
  clientSecret: 'Client-Geheimnis',
  copyCallback: 'Rücksprungadresse kopieren',
  failed: 'Die Anmeldung ist nicht eingeschaltet',
  fillIn: 'Füllen Sie die Felder aus, dann steht hier, was geschrieben wird.',
  isWritten: 'Beide Dateien sind geschrieben. Beenden Sie svc, und starten Sie es ohne --auth none neu.',
  keysToo: 'Auch Schlüssel für Programme: Damit kommen Programme herein; Sie legen die Schlüssel an.',
  mayBeEmpty: 'Nur für einen eigenen.',
  missing: 'Das fehlt noch.',
  notValid: 'So lässt es sich nicht schreiben',
  others: 'Weitere Personen, die sich anmelden dürfen',
  othersAbout:
    'Benutzernamen, durch Kommas getrennt. ' +
    'Nur Sie und diese Personen kommen herein; andere können Sie jederzeit ergänzen.',
  places: { server: 'Adresse Ihres Servers', issuer: 'Aussteller (Issuer)', directory: 'Verzeichnis (Tenant)' },
  provider: 'Anmeldedienst',
  register: (name) => `Bei ${name} registrieren`,
  secretAbout: 'Es kommt in eine Datei, die nur der Benutzer von svc lesen kann, und wird nie mehr gezeigt.',
  switching: 'Der Anmeldedienst wird gefragt …',
  switchOn: 'Anmeldung einschalten',
  user: (provider) => `Ihr Benutzername bei ${provider}`,
  userAbout: 'Sie werden Besitzer dieses svc. Bisherige Besitzer bleiben es.',
  wayBack:
    'Von da an müssen sich alle anmelden, auch Sie. ' +
    'Kommen Sie nicht mehr hinein, starten Sie svc auf seinem Rechner mit ' +
    '--auth none: Dann können Sie dieses Formular wieder ausfüllen.',
  whatHappens: 'Was geschrieben wird',
  writes: (file) => `In ${file}`,
}
