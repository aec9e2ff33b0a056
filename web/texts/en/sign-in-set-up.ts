/** The form that has people sign in. */
export const signInSetUp = {
  about:
    'No one signs in yet: everyone who reaches this page is an owner. ' +
    'Let people sign in, with an account that they have.',
  callback: 'Callback address',
  callbackAbout: 'Register svc at the identity provider with this address. It then shows the client id and the secret.',
  clientId: 'Client ID',
  clientSecret: 'Client secret',
  copyCallback: 'Copy the callback address',
  failed: 'Sign-in is not on',
  fillIn: 'Fill in the fields to see what is written.',
  isWritten: 'Both files are written. End svc, and start it without --auth none: then sign-in is on.',
  keysToo: 'Keys for programs, too: then programs enter with a key that you make.',
  mayBeEmpty: 'Only for one of your own.',
  missing: 'This is missing.',
  notValid: 'This cannot be written',
  others: 'Further people who may sign in',
  othersAbout: 'User names with commas between them. Only you and they may enter; you can add others at any time.',
  places: { server: 'Address of your server', issuer: 'Issuer', directory: 'Directory (tenant)' },
  provider: 'Identity provider',
  register: (name: string) => `Register at ${name}`,
  secretAbout: 'It is written into a file that only the user of svc can read, and never shown again.',
  switching: 'Asking the identity provider …',
  switchOn: 'Switch sign-in on',
  user: (provider: string) => `Your user name at ${provider}`,
  userAbout: 'You become an owner of this svc. Owners of before stay.',
  wayBack:
    'From then on everyone has to sign in, you too. If you cannot get in any more, start svc with --auth none on its ' +
    'machine: then you can fill in this form again.',
  whatHappens: 'What is written',
  writes: (file: string) => `Into ${file}`,
}
