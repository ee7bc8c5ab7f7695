import type { Via } from './message.ts'

/** One Via value (RFC 3261 section 20.42). */
export function parseVia(_text: string): Via | undefined {
  throw new Error('being written')
}

export function serialiseVia(_via: Via): string {
  throw new Error('being written')
}
