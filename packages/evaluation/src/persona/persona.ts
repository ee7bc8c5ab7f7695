import type { TestCase } from '@parley/contract'

/** A caller of a test case that is described and not scripted. */
export type Persona = Extract<TestCase['caller'], { kind: 'persona' }>
