import { type Static, Type } from 'typebox';
import { photoFailures } from '../../images/image-types.ts';
import { closedBody, Int64, PathIds, PlainText, StringEnum } from '../../platform/http/schemas.ts';

const photoStatuses = ['processing', 'ready', 'failed'] as const;
export type PhotoStatus = (typeof photoStatuses)[number];

/** How many photos an animal may have. */
export const photosMax = 12;
const altLengthMax = 500;

const exampleUrl = '/photos/9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08.webp';
const Pixels = (description: string) => Type.Integer({ minimum: 1, description });
const alt = PlainText('What the photo shows, for people who do not see it. Empty: no text.', ['Biscuit in the grass'], altLengthMax);

const PhotoUrlSchema = Type.Object({
  width: Pixels('Width in pixels.'),
  height: Pixels('Height in pixels.'),
  url: Type.String({
    description: "The URL of the picture, a WebP. Without a host it is on the API's own origin. It never shows another picture.",
    examples: [exampleUrl],
  }),
});

export const PhotoSchema = Type.Object(
  {
    id: Int64({ description: 'Unique identifier assigned by the service.', examples: [1] }),
    status: StringEnum(photoStatuses, {
      description: 'processing: the pictures are being made. ready: they can be shown. failed: they can not be made; `failure` says why.',
    }),
    alt,
    width: Type.Union([Pixels('Width of the largest picture.'), Type.Null()]),
    height: Type.Union([Pixels('Height of the largest picture.'), Type.Null()]),
    placeholder: Type.Union([
      Type.String({ description: 'A ThumbHash in base64, to show a blurred picture until the photo is loaded.' }),
      Type.Null(),
    ]),
    urls: Type.Array(PhotoUrlSchema, { description: 'The pictures, the smallest first. Empty until the photo is ready.' }),
    failure: Type.Optional(
      Type.Object({
        code: Type.String({ description: 'Machine-readable reason.', 'x-extensible-enum': Object.keys(photoFailures) }),
        message: Type.String({ description: 'What was wrong, and what to do.' }),
      }),
    ),
  },
  {
    $id: 'Photo',
    description: 'A photo of an animal. It has no metadata of the original, such as the place where it was taken.',
    examples: [
      {
        id: 1,
        status: 'ready',
        alt: 'Biscuit in the grass',
        width: 320,
        height: 240,
        placeholder: '1QcSHQRnh493V4dIh4eXh1h4kJUI',
        urls: [{ width: 320, height: 240, url: exampleUrl }],
      },
    ],
  },
);

export const PhotoChangesSchema = closedBody(
  Type.Object(
    {
      alt: Type.Optional(alt),
      position: Type.Optional(
        Type.Integer({ minimum: 0, maximum: photosMax - 1, description: 'The new place among the photos of the animal: 0 is the first.' }),
      ),
    },
    {
      $id: 'PhotoChanges',
      anyOf: [{ required: ['alt'] }, { required: ['position'] }],
      'x-must-be': 'an object with alt or position',
      examples: [{ alt: 'Biscuit in the grass', position: 0 }],
    },
  ),
  PhotoSchema,
);
export type PhotoChanges = Static<typeof PhotoChangesSchema>;

export const photoSchemas = [PhotoSchema, PhotoChangesSchema];

export const PhotosPath = PathIds({ petId: 'Identifier of the animal.' });
export const PhotoPath = PathIds({ petId: 'Identifier of the animal.', photoId: 'Identifier of the photo.' });
