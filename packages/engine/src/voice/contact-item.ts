import type { TimelineFact } from '@parley/conversation'
import type { AnswerClass, Evidence, Verdict } from '@parley/dialogue'

type ContactFact = Extract<TimelineFact, { kind: 'contact' }>

/** The contact of a run, and what the timeline says was detected, for each class of what answered. */
const CONTACTS: Readonly<Record<AnswerClass, Pick<ContactFact, 'contact' | 'detected'>>> = {
  human: { contact: 'human', detected: 'human' },
  voicemail: { contact: 'voicemail', detected: 'voicemail' },
  mailbox_unavailable: { contact: 'voicemail', detected: 'voicemail' },
  ivr: { contact: 'ivr', detected: 'ivr' },
  screener: { contact: 'unknown', detected: 'screener' },
  fax: { contact: 'unknown', detected: 'unknown' },
  announcement: { contact: 'unknown', detected: 'unknown' },
  silence: { contact: 'unknown', detected: 'unknown' },
}

const MAX_EVIDENCE = 20

/** The timeline item of a verdict; null: the time for detection ran out. */
export function contactItem(verdict: Verdict | null): ContactFact {
  if (verdict === null)
    return { kind: 'contact', contact: 'unknown', detected: 'unknown', class: null, confidence: null, evidence: [] }
  return {
    kind: 'contact',
    ...CONTACTS[verdict.class],
    class: verdict.class,
    confidence: Math.round(verdict.confidence * 100) / 100,
    evidence: verdict.evidence.flatMap(textsOf).slice(0, MAX_EVIDENCE),
  }
}

function textsOf(evidence: Evidence): string[] {
  switch (evidence.kind) {
    case 'words':
      return evidence.phrases.map(phrase => `words: ${phrase}`)
    case 'short-greeting':
    case 'long-greeting':
      return [`${evidence.kind}: ${evidence.spokenMs} ms`]
    case 'beep':
      return [`beep: ${evidence.hz} Hz`]
    case 'no-sound':
      return [`no sound for ${evidence.forMs} ms`]
    case 'wordless-voice':
      return [`voice without words for ${evidence.forMs} ms`]
    default:
      return [evidence.kind]
  }
}
