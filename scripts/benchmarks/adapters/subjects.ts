import { MODELS } from './models.ts'
import { RECOGNISERS } from './recognisers.ts'
import type { AdapterSubject } from './subject.ts'
import { VOICES } from './voices.ts'

export const SUBJECTS: readonly AdapterSubject[] = [...VOICES, ...RECOGNISERS, ...MODELS]

/** The adapter with this name. Throws if there is none. */
export function subjectByName(name: string): AdapterSubject {
  const subject = SUBJECTS.find(candidate => candidate.name === name)
  if (subject !== undefined) return subject
  throw new Error(`there is no adapter "${name}"; the adapters are ${SUBJECTS.map(subject => subject.name).join(', ')}`)
}
