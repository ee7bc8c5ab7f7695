import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Draft, readDraft } from '@parley/flow'
import { ExamplesError } from '../errors.ts'

/** An example agent as a draft from `name` on. */
interface ExampleDraft {
  readonly name: ExampleName
  /** Absolute path of its JSON file. */
  readonly file: string
  readonly draft: Draft
}

export type ExampleName = (typeof NAMES)[number]

const NAMES = ['clinic', 'pizza'] as const

/** Read from the files each time. Throws "example_invalid" if a file does not contain a valid draft. */
export function exampleDrafts(): readonly ExampleDraft[] {
  return NAMES.map(name => {
    const file = fileURLToPath(new URL(`../../agents/${name}.json`, import.meta.url))
    return { name, file, draft: draftIn(file) }
  })
}

/** The example of that name. */
export function exampleDraft(name: ExampleName): ExampleDraft {
  return exampleDrafts().find(example => example.name === name)!
}

/** The test suite of the example of that name, as the body of a request that creates it. */
export function exampleSuite(name: ExampleName): { readonly name: string; readonly agent_id: string } {
  const file = fileURLToPath(new URL(`../../suites/${name}.json`, import.meta.url))
  return JSON.parse(readFileSync(file, 'utf8')) as { name: string; agent_id: string }
}

function draftIn(file: string): Draft {
  try {
    const draft: unknown = JSON.parse(readFileSync(file, 'utf8'))
    readDraft(draft)
    return draft as Draft
  } catch (cause) {
    throw new ExamplesError('example_invalid', `${file} is not a valid draft of an agent; restore the file`, { cause })
  }
}
