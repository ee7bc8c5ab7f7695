import { isObject } from '@parley/nodes'

/** Maximum examples of one condition or instruction, and maximum characters of each. */
const MAX_EXAMPLES = 5
const MAX_CHARACTERS = 400

interface Line {
  readonly role: string
  readonly content: string
}

/** A sentence with the words after which the transition to `destination` is taken; empty: there are none. */
export function transitionExamples(examples: unknown, destination: string | null): string {
  const fitting = listOf(examples).filter(
    example => isObject(example) && destination !== null && example.destination_node_id === destination,
  )
  return sentence('For example after', fitting)
}

/** Sentences with words after which a global node is entered, and after which it is not; empty: there are none. */
export function globalExamples(positive: unknown, negative: unknown): string {
  return sentence('For example after', listOf(positive)) + sentence('Not after', listOf(negative))
}

/** A paragraph with conversations as the node wants them; empty: there are none. */
export function conversationExamples(examples: unknown): string {
  const shown = listOf(examples)
    .slice(0, MAX_EXAMPLES)
    .flatMap(example => {
      const lines = linesOf(example).map(({ role, content }) => `${role === 'agent' ? 'You' : 'Caller'}: ${content}`)
      return lines.length === 0 ? [] : [cut(lines.join('\n'))]
    })
  return shown.length === 0 ? '' : `\n\nExamples of this step:\n${shown.join('\n---\n')}`
}

/** What the caller said last in each example, quoted. */
function sentence(head: string, examples: readonly unknown[]): string {
  const quoted = examples.slice(0, MAX_EXAMPLES).flatMap(example => {
    const words = linesOf(example).findLast(({ role }) => role === 'user')?.content
    return words === undefined ? [] : [JSON.stringify(cut(words))]
  })
  return quoted.length === 0 ? '' : ` ${head} ${quoted.join(' or ')}.`
}

/** The lines of an example's transcript; its tool calls are left out. */
function linesOf(example: unknown): Line[] {
  const transcript = isObject(example) && Array.isArray(example.transcript) ? example.transcript : []
  return transcript.flatMap(line => {
    if (!isObject(line) || typeof line.content !== 'string' || line.content.trim() === '') return []
    return line.role === 'user' || line.role === 'agent' ? [{ role: line.role, content: line.content.trim() }] : []
  })
}

function listOf(examples: unknown): readonly unknown[] {
  return Array.isArray(examples) ? examples : []
}

function cut(text: string): string {
  return [...text.slice(0, 2 * MAX_CHARACTERS)].slice(0, MAX_CHARACTERS).join('')
}
