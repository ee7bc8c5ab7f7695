/** Values of the settings that are open to words of later releases. Any other word gets a warning, and the default is used. */
export const KNOWN_WORDS = {
  ambientSound: [
    'none',
    'coffee-shop',
    'convention-hall',
    'summer-outdoor',
    'mountain-outdoor',
    'static-noise',
    'call-center',
  ],
  denoisingMode: ['no-denoise', 'noise-cancellation', 'noise-and-background-speech-cancellation'],
  sttMode: ['fast', 'accurate', 'custom'],
} as const
