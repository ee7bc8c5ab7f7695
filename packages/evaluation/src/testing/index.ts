export { RealTimeWork, VirtualServices } from '../audio/virtual-services.ts'
export { GATE_HYPOTHESES, gateFigures, meansOfEqualPower } from './gate-figures.ts'
