// Something to look at: a set that publishes every event, and a call that it follows.
import type { Context } from '../kernel/context.ts'
import { createConfigurationSet, setArn } from './configuration-sets.ts'
import { createEventDestination, EVENT_TYPES } from './event-destinations.ts'
import { sendVoiceMessage } from './messages.ts'
import { changeTags } from './snapshots.ts'

const ConfigurationSetName = 'alarm-calls'

export async function demo(ctx: Context): Promise<Record<string, string>> {
  const set = await createConfigurationSet({ ConfigurationSetName }, ctx)
  await changeTags(setArn(set), (tags) => ({ ...tags, environment: 'demo' }), ctx)
  await createEventDestination(
    {
      ConfigurationSetName,
      EventDestinationName: 'on-call-topic',
      EventDestination: {
        Enabled: true,
        MatchingEventTypes: [...EVENT_TYPES],
        CloudWatchLogsDestination: undefined,
        KinesisFirehoseDestination: undefined,
        SnsDestination: { TopicArn: 'arn:aws:sns:us-east-1:123456789012:on-call' },
      },
    },
    ctx,
  )
  const { MessageId } = await sendVoiceMessage(
    {
      ConfigurationSetName,
      DestinationPhoneNumber: '+12065550142',
      OriginationPhoneNumber: '+12065550100',
      Content: {
        PlainTextMessage: {
          LanguageCode: 'en-US',
          VoiceId: 'Joanna',
          Text: 'The pump in building four has stopped. Please acknowledge the alarm.',
        },
        SSMLMessage: undefined,
        CallInstructionsMessage: undefined,
      },
    },
    ctx,
  )
  return { configurationSetName: ConfigurationSetName, messageId: MessageId }
}
