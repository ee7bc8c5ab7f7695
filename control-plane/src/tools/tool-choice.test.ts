import { operations, type Tool, toTool } from '@parley/contract'
import { describe, expect, it } from 'vitest'

const tools = operations.flatMap(operation => toTool(operation) ?? [])

const COMMON = new Set(
  'a an and are as at be by for from has have how i in is it its me my no not of on or our so that the their them then there they this to was we what when which who will with you your'.split(
    ' ',
  ),
)

/** Word stems, so that "calls" and "calling" meet "call". */
function stems(text: string): string[] {
  const words = text.toLowerCase().match(/[a-z]+/g) ?? []
  return words
    .filter(word => !COMMON.has(word))
    .map(word => word.replace(/(ings?|ed|es|s|e)$/, '').replace(/(.)\1$/, '$1'))
}

/**
 * A model that knows no more than words: it takes the tool whose name and description share the rarest words with the task
 * (BM25). What it finds, a language model finds.
 */
function chooser(list: readonly Pick<Tool, 'name' | 'description'>[]): (task: string) => string {
  const documents = list.map(({ name, description }) => ({ name, words: [...stems(name), ...stems(description)] }))
  const mean = documents.reduce((sum, { words }) => sum + words.length, 0) / documents.length
  const holders = (stem: string) => documents.filter(({ words }) => words.includes(stem)).length
  const score = (words: readonly string[], task: readonly string[]) =>
    task.reduce((sum, stem) => {
      const count = words.filter(word => word === stem).length
      const rarity = Math.log(1 + (documents.length - holders(stem) + 0.5) / (holders(stem) + 0.5))
      return sum + (rarity * count * 2.2) / (count + 1.2 * (0.25 + (0.75 * words.length) / mean))
    }, 0)
  return task => {
    const asked = [...new Set(stems(task))]
    return documents
      .map(({ name, words }) => ({ name, score: score(words, asked) }))
      .toSorted((one, other) => other.score - one.score)[0]!.name
  }
}

const TASKS = [
  ['Place a phone call to a customer with the clinic agent', 'runs_create'],
  ['What was said in this call? I need the transcript', 'runs_transcript'],
  ['Hang up the call that is running right now', 'runs_cancel'],
  ['Which calls failed yesterday? List the runs', 'runs_list'],
  ['Where can I listen to the audio recording of the call', 'runs_recording'],
  ['What happened in the call, item by item, in time order', 'runs_timeline'],
  ['Which external effects did the run have, such as HTTP requests and dials, and their receipts', 'runs_effects'],
  ['Show the SIP messages of a call', 'runs_ladder'],
  ['Replay a recorded call against the draft', 'runs_replay'],
  ['Send the chat agent a message as the user and read its reply', 'runs_message'],
  ['Change the variables of a live call', 'runs_update'],
  ['Create a new agent from a template', 'agents_create'],
  ['Make a copy of an existing agent', 'agents_clone'],
  ['Archive an agent that nobody needs', 'agents_delete'],
  ['Import a conversation flow that was exported elsewhere', 'agents_import'],
  ['Check an export before importing it: what would be different', 'agents_import_inspect'],
  ['Export an agent so that it can be imported in another environment', 'agents_export'],
  ['Edit the prompt of a node in the draft', 'drafts_edit'],
  ['What members does an edit of type flow.edge.put have? Read its schema', 'drafts_edit_schema'],
  ['Read the whole open draft', 'drafts_get'],
  ['Does the draft have errors that prevent its publication', 'drafts_validate'],
  ['Throw away the open draft, discard its changes', 'drafts_discard'],
  ['Publish the draft as a new version', 'publications_publish'],
  ['Go back: make an older version the live one', 'publications_set_head'],
  ['Which language models can I use', 'models_list'],
  ['Which voices speak Spanish', 'voices_list'],
  ['Let me hear how this voice sounds', 'voices_preview'],
  ['Connect a SIP trunk of my carrier', 'trunks_create'],
  ['Let this agent answer a phone number', 'numbers_assign'],
  ['Give a colleague an API key with the role viewer', 'keys_create'],
  ['A key has leaked: revoke it', 'keys_revoke'],
  ['How much did we spend per agent this month? Usage and cost', 'usage_summary'],
  ['Limit what we spend in a month: set the cap', 'budgets_update'],
  ['Store a password for an HTTP action as a secret', 'secrets_put'],
  ['Test version 3 of the agent with this suite: start a test run', 'test_runs_create'],
  ['Which cases failed in the test run, and which assertions', 'test_runs_results'],
  ['How many trials and what cost would this test run have? Estimate it', 'test_runs_estimate'],
  ['Create a suite of test cases with simulated callers', 'test_suites_create'],
  ['Edit a test suite: add a case, remove another', 'test_suites_edit'],
  ['Who changed what? Read the audit log', 'audit_list'],
] as const

describe('the list of tools', () => {
  it('the list of tools is under 60 kB', () => {
    expect(Buffer.byteLength(JSON.stringify({ tools }))).toBeLessThan(60_000)
  })

  const choose = chooser(tools)
  it.each(TASKS)('the tool for "%s" is %s', (task, name) => {
    expect(choose(task)).toBe(name)
  })

  it('tasks are not solved without the descriptions', () => {
    const blind = chooser(tools.map(({ name }) => ({ name: name.replace(/.*_/, ''), description: '' })))
    expect(TASKS.filter(([task, name]) => blind(task) === name.replace(/.*_/, '')).length).toBeLessThan(
      TASKS.length * 0.7,
    )
  })
})
