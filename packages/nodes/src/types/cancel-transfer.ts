import { notExecuted } from '../findings.ts'
import { defineNode } from '../node-type.ts'
import { lastWordsFields, sayLastWords } from '../parts/last-words.ts'

/** Cancels a warm transfer of the source platform, which there is not here: says its words and ends the conversation. */
export const cancelTransfer = defineNode({
  type: 'cancel_transfer',
  fields: lastWordsFields,
  isEnding: true,
  enter: sayLastWords,
  importWarnings: () => [
    {
      code: 'unsupported_capability',
      field: 'type',
      message: 'There is no warm transfer to cancel: the conversation ends here',
    },
  ],
  check: () => [notExecuted(['type'], 'there is no warm transfer to cancel, so the conversation ends here', [])],
})
