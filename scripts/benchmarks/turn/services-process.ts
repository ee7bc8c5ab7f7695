// The process of the measured engine's services, with the delays of typical services. Its argument is the planted delay of the
// model, ms, the names of other planted faults follow. It sends the environment variables with which the engine uses the services, and ends with its parent.
import { StandIns } from '../../../packages/cli/src/stand-ins/stand-ins.ts'
import { crispVoice } from './crisp-voice.ts'
import { PLANTED_FAULTS } from './faults.ts'
import { SERVICE_DELAYS } from './script.ts'
import { ANSWER, ScriptedModel } from './scripted-model.ts'

const { hearing, thinking, speaking } = SERVICE_DELAYS
const standIns = await StandIns.open({
  recogniserDelays: { partialMs: hearing, finalMs: hearing },
  voiceDelays: { firstMs: speaking },
  voice: await crispVoice(
    [ANSWER],
    PLANTED_FAULTS.filter(fault => process.argv.slice(3).includes(fault)),
  ),
  model: new ScriptedModel(thinking, Number(process.argv[2])),
})
process.on('disconnect', () => process.exit())
process.send!(standIns.environment)
