"""People, skills, versions and their history."""

import sqlalchemy as sa
from alembic import op

from skillyard.db.base import UtcTime

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "bundles",
        sa.Column("digest", sa.String(length=80), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint("digest", name="pk_bundles"),
    )
    op.create_table(
        "change_counter",
        sa.Column("id", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_change_counter"),
    )
    op.create_table(
        "history",
        sa.Column("number", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("at", UtcTime(), nullable=False),
        sa.Column("actor_id", sa.String(length=36), nullable=True),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("action", sa.String(length=64), nullable=False),
        sa.Column("outcome", sa.String(length=16), nullable=False),
        sa.Column("subject_kind", sa.String(length=32), nullable=False),
        sa.Column("subject_id", sa.String(length=128), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("audience", sa.String(length=64), nullable=False),
        sa.Column("audience_before", sa.String(length=64), nullable=True),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("feedback", sa.Text(), nullable=False),
        sa.Column("before", sa.JSON(), nullable=True),
        sa.Column("after", sa.JSON(), nullable=True),
        sa.Column("digest_before", sa.String(length=80), nullable=True),
        sa.Column("digest_after", sa.String(length=80), nullable=True),
        sa.Column("error", sa.JSON(), nullable=True),
        sa.Column("undoes", sa.BigInteger(), nullable=True),
        sa.Column("undone_by", sa.BigInteger(), nullable=True),
        sa.Column("request_id", sa.String(length=64), nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_history"),
    )
    op.create_index("ix_history_subject", "history", ["subject_kind", "subject_id", "number"], unique=False)
    op.create_index("ix_history_tenant", "history", ["tenant_id", "number"], unique=False)
    op.create_table(
        "tenants",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_tenants"),
        sa.UniqueConstraint("name", name="uq_tenants_name"),
    )
    op.create_table(
        "agents",
        sa.Column("key", sa.String(length=36), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("id", sa.String(length=128), nullable=False),
        sa.Column("name", sa.String(length=128), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("goal", sa.Text(), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.Column("deleted_at", UtcTime(), nullable=True),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name="fk_agents_tenant_id_tenants"),
        sa.PrimaryKeyConstraint("key", name="pk_agents"),
    )
    op.create_index(
        "uq_agents_tenant_id_id",
        "agents",
        ["tenant_id", "id"],
        unique=True,
        sqlite_where=sa.text("deleted_at IS NULL"),
        postgresql_where=sa.text("deleted_at IS NULL"),
    )
    op.create_index(
        "uq_agents_tenant_id_name",
        "agents",
        ["tenant_id", "name"],
        unique=True,
        sqlite_where=sa.text("deleted_at IS NULL"),
        postgresql_where=sa.text("deleted_at IS NULL"),
    )
    op.create_table(
        "bundle_files",
        sa.Column("digest", sa.String(length=80), nullable=False),
        sa.Column("path", sa.String(length=1024), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("executable", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["digest"], ["bundles.digest"], name="fk_bundle_files_digest_bundles"),
        sa.PrimaryKeyConstraint("digest", "path", name="pk_bundle_files"),
    )
    op.create_index("ix_bundle_files_sha256", "bundle_files", ["sha256"], unique=False)
    op.create_table(
        "namespaces",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("policy", sa.JSON(), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name="fk_namespaces_tenant_id_tenants"),
        sa.PrimaryKeyConstraint("id", name="pk_namespaces"),
        sa.UniqueConstraint("tenant_id", "name", name="uq_namespaces_tenant_id_name"),
    )
    op.create_table(
        "people",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("admin", sa.Boolean(), nullable=False),
        sa.Column("external_id", sa.Text(), nullable=True),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.Column("disabled_at", UtcTime(), nullable=True),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name="fk_people_tenant_id_tenants"),
        sa.PrimaryKeyConstraint("id", name="pk_people"),
        sa.UniqueConstraint("external_id", name="uq_people_external_id"),
        sa.UniqueConstraint("tenant_id", "name", name="uq_people_tenant_id_name"),
    )
    op.create_table(
        "members",
        sa.Column("namespace_id", sa.String(length=36), nullable=False),
        sa.Column("person_id", sa.String(length=36), nullable=False),
        sa.Column("role", sa.String(length=16), nullable=False),
        sa.ForeignKeyConstraint(["namespace_id"], ["namespaces.id"], name="fk_members_namespace_id_namespaces"),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_members_person_id_people"),
        sa.PrimaryKeyConstraint("namespace_id", "person_id", name="pk_members"),
    )
    op.create_index("ix_members_person_id", "members", ["person_id"], unique=False)
    op.create_table(
        "skills",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("namespace_id", sa.String(length=36), nullable=False),
        sa.Column("owner_id", sa.String(length=36), nullable=True),
        sa.Column("name", sa.String(length=256), nullable=False),
        sa.Column(
            "name_key",
            sa.String(length=256).with_variant(sa.String(length=256, collation="C"), "postgresql"),
            nullable=False,
        ),
        sa.Column("visibility", sa.String(length=16), nullable=False),
        sa.Column("audience", sa.String(length=64), nullable=False),
        sa.Column("digest", sa.String(length=80), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("license", sa.Text(), nullable=False),
        sa.Column("compatibility", sa.Text(), nullable=False),
        sa.Column("fields", sa.JSON(), nullable=False),
        sa.Column("findings", sa.JSON(), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.Column("updated_at", UtcTime(), nullable=False),
        sa.Column("changed", sa.BigInteger(), nullable=False),
        sa.Column("deleted_at", UtcTime(), nullable=True),
        sa.ForeignKeyConstraint(["digest"], ["bundles.digest"], name="fk_skills_digest_bundles"),
        sa.ForeignKeyConstraint(["namespace_id"], ["namespaces.id"], name="fk_skills_namespace_id_namespaces"),
        sa.ForeignKeyConstraint(["owner_id"], ["people.id"], name="fk_skills_owner_id_people"),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name="fk_skills_tenant_id_tenants"),
        sa.PrimaryKeyConstraint("id", name="pk_skills"),
    )
    op.create_index("ix_skills_listing", "skills", ["audience", "name_key", "id"], unique=False)
    op.create_index("ix_skills_visibility", "skills", ["visibility"], unique=False)
    op.create_index(
        "uq_skills_namespace_id_name_key",
        "skills",
        ["namespace_id", "name_key"],
        unique=True,
        sqlite_where=sa.text("deleted_at IS NULL"),
        postgresql_where=sa.text("deleted_at IS NULL"),
    )
    op.create_table(
        "tokens",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("person_id", sa.String(length=36), nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.Column("scope", sa.String(length=16), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.Column("expires_at", UtcTime(), nullable=True),
        sa.Column("last_used_at", UtcTime(), nullable=True),
        sa.Column("revoked_at", UtcTime(), nullable=True),
        sa.Column("parent_id", sa.String(length=36), nullable=True),
        sa.ForeignKeyConstraint(["parent_id"], ["tokens.id"], name="fk_tokens_parent_id_tokens"),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_tokens_person_id_people"),
        sa.PrimaryKeyConstraint("id", name="pk_tokens"),
        sa.UniqueConstraint("hash", name="uq_tokens_hash"),
    )
    op.create_index("ix_tokens_parent_id", "tokens", ["parent_id"], unique=False)
    op.create_index("ix_tokens_person_id", "tokens", ["person_id"], unique=False)
    op.create_table(
        "sessions",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.Column("person_id", sa.String(length=36), nullable=False),
        sa.Column("token_id", sa.String(length=36), nullable=True),
        sa.Column("operator_proof", sa.String(length=64), nullable=True),
        sa.Column("scope", sa.String(length=16), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.Column("used_at", UtcTime(), nullable=False),
        sa.Column("expires_at", UtcTime(), nullable=False),
        sa.Column("revoked_at", UtcTime(), nullable=True),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_sessions_person_id_people"),
        sa.ForeignKeyConstraint(["token_id"], ["tokens.id"], name="fk_sessions_token_id_tokens"),
        sa.PrimaryKeyConstraint("id", name="pk_sessions"),
        sa.UniqueConstraint("hash", name="uq_sessions_hash"),
    )
    op.create_index("ix_sessions_expires_at", "sessions", ["expires_at"], unique=False)
    op.create_table(
        "skill_files",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("skill_id", sa.String(length=36), nullable=False),
        sa.Column("path", sa.String(length=1024), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("executable", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["skill_id"], ["skills.id"], name="fk_skill_files_skill_id_skills"),
        sa.PrimaryKeyConstraint("id", name="pk_skill_files"),
        sa.UniqueConstraint("skill_id", "path", name="uq_skill_files_skill_id_path"),
    )
    op.create_table(
        "skill_references",
        sa.Column("skill_id", sa.String(length=36), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("file", sa.String(length=1024), nullable=False),
        sa.Column("line", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("target_key", sa.String(length=256), nullable=False),
        sa.Column("target_path", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["skill_id"], ["skills.id"], name="fk_skill_references_skill_id_skills"),
        sa.PrimaryKeyConstraint("skill_id", "position", name="pk_skill_references"),
    )
    op.create_index("ix_skill_references_target", "skill_references", ["target_key"], unique=False)
    op.create_table(
        "skill_tags",
        sa.Column("skill_id", sa.String(length=36), nullable=False),
        sa.Column("tag", sa.String(length=256), nullable=False),
        sa.ForeignKeyConstraint(["skill_id"], ["skills.id"], name="fk_skill_tags_skill_id_skills"),
        sa.PrimaryKeyConstraint("skill_id", "tag", name="pk_skill_tags"),
    )
    op.create_index("ix_skill_tags_tag", "skill_tags", ["tag"], unique=False)
    op.create_table(
        "versions",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("skill_id", sa.String(length=36), nullable=False),
        sa.Column("namespace_id", sa.String(length=36), nullable=False),
        sa.Column(
            "name_key",
            sa.String(length=256).with_variant(sa.String(length=256, collation="C"), "postgresql"),
            nullable=False,
        ),
        sa.Column("version", sa.String(length=128), nullable=False),
        sa.Column("digest", sa.String(length=80), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("notes", sa.Text(), nullable=False),
        sa.Column("requires", sa.Text(), nullable=False),
        sa.Column("published_by", sa.String(length=36), nullable=True),
        sa.Column("published_at", UtcTime(), nullable=False),
        sa.Column("reviewed_by", sa.String(length=36), nullable=True),
        sa.Column("yank_reason", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["digest"], ["bundles.digest"], name="fk_versions_digest_bundles"),
        sa.ForeignKeyConstraint(["namespace_id"], ["namespaces.id"], name="fk_versions_namespace_id_namespaces"),
        sa.ForeignKeyConstraint(["skill_id"], ["skills.id"], name="fk_versions_skill_id_skills"),
        sa.PrimaryKeyConstraint("id", name="pk_versions"),
        sa.UniqueConstraint("namespace_id", "name_key", "version", name="uq_versions_namespace_id_name_key_version"),
    )
    op.create_index("ix_versions_skill_id", "versions", ["skill_id"], unique=False)
    op.create_table(
        "version_tags",
        sa.Column("skill_id", sa.String(length=36), nullable=False),
        sa.Column("tag", sa.String(length=64), nullable=False),
        sa.Column("version_id", sa.String(length=36), nullable=False),
        sa.ForeignKeyConstraint(["skill_id"], ["skills.id"], name="fk_version_tags_skill_id_skills"),
        sa.ForeignKeyConstraint(["version_id"], ["versions.id"], name="fk_version_tags_version_id_versions"),
        sa.PrimaryKeyConstraint("skill_id", "tag", name="pk_version_tags"),
    )
    op.execute("INSERT INTO change_counter (id, number) VALUES (1, 0)")
