import { callerOf, ifMatch, operation, read, requireEtag, updated } from '../../access/admission/admission-hook.ts';
import { requestAuthor } from '../../access/audit/audit.ts';
import type { Transactor } from '../../platform/db/handles.ts';
import { type Api, etagHeader, Ref } from '../../platform/http/schemas.ts';
import { changeSiteSettings, getSiteSettings, siteErrors } from './site.ts';
import { siteEtag } from './site-json.ts';
import { SiteSettingsChangesSchema, SiteSettingsSchema } from './site-schemas.ts';

const common = { tags: ['Shelters'], 'x-stability': 'experimental' } as const;

export function siteRoutes(api: Api, { db }: { readonly db: Transactor }): void {
  api.get(
    '/site',
    operation({
      scope: 'pets:read',
      ...common,
      operationId: 'getSiteSettings',
      summary: 'Get the colours and texts of the site',
      description: 'What the sites of adopters should look like and say: colours, imprint and privacy.',
      response: read('The colours and texts.', SiteSettingsSchema),
    }),
    async (_, reply) => {
      const settings = await getSiteSettings(db);
      return reply.header('etag', siteEtag(settings)).send(settings);
    },
  );

  api.patch(
    '/site',
    operation({
      scope: 'store:manage',
      ...common,
      operationId: 'updateSiteSettings',
      summary: 'Update the colours and texts of the site',
      description: 'A JSON merge patch. A colour that cannot be read on its ground is rejected.',
      headers: ifMatch('settings'),
      body: Ref(SiteSettingsChangesSchema),
      response: updated('The colours and texts as they are now.', SiteSettingsSchema, etagHeader),
      errors: siteErrors.change,
    }),
    async (request, reply) => {
      const key = callerOf(request);
      const given = request.headers['if-match'];
      const settings = await changeSiteSettings(db, request.body, {
        key,
        by: requestAuthor(key, request.ip),
        expect: (now) => requireEtag(given, siteEtag(now), 'The settings of the site'),
      });
      return reply.header('etag', siteEtag(settings)).send(settings);
    },
  );
}
