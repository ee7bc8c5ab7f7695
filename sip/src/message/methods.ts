/** The methods in the IANA registry: what is not among them is not recognised (501), rather than not allowed (405). */
export const REGISTERED_METHODS: ReadonlySet<string> = new Set([
  'ACK',
  'BYE',
  'CANCEL',
  'INFO',
  'INVITE',
  'MESSAGE',
  'NOTIFY',
  'OPTIONS',
  'PRACK',
  'PUBLISH',
  'REFER',
  'REGISTER',
  'SUBSCRIBE',
  'UPDATE',
])
