import { z } from 'zod'
import { json } from '../values/json.ts'

/** Training examples of an export, stored unchanged. What of them can be read goes into the model's instructions. */
export const examples = z.array(json).max(100).optional()

/** Examples that show which edge of a node is taken after which words. */
export const transitionExamples = { finetune_transition_examples: examples }
