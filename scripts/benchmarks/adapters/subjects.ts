import { MODELS } from './models.ts'
import { RECOGNISERS } from './recognisers.ts'
import type { AdapterSubject } from './subject.ts'
import { VOICES } from './voices.ts'

export const SUBJECTS: readonly AdapterSubject[] = [...VOICES, ...RECOGNISERS, ...MODELS]

/** Throws for a name that none has. */
export function subjectByName(name: string): AdapterSubject {
  const subject = SUBJECTS.find(one => one.name === name)
  if (subject !== undefined) return subject
  throw new Error(`there is no adapter "${name}"; there are: ${SUBJECTS.map(one => one.name).join(', ')}`)
}
