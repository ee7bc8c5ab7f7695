import { apiKey, at, type Examples, email } from './values.ts'

const session = {
  principal: { ...apiKey, kind: 'user' },
  role: 'member',
  can_dial: false,
  email,
  name: 'Bea',
  environment: 'production',
  created_at: at,
  expires_at: '2026-01-15T00:00:00.000Z',
}

export const sessionExamples = {
  'auth.session': {
    body: { token: 'abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG', name: 'Bea' },
    answer: session,
  },
  'auth.current': { answer: session },
  'auth.login': { body: { email }, answer: {} },
  'auth.logout': { body: {}, answer: {} },
} as const satisfies Examples
